c = get_config()  # noqa: F821  nbgrader defines it
c.CourseDirectory.course_id = "flashlab"
c.ClearSolutions.code_stub = {"python": "; your program"}
