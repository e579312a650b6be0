"""flashlab_library.py declares flashlab.h's structs a second time, and flashlab_operations.py the options of
its operations: the fields must be the same, in the same order. Needs no torch and no library: all are read
as text."""
import ast
import os
import re
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../attention_cuda")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def fields_in_c(struct, header="flashlab.h"):
    """Returns the names of a struct's fields: `int64_t a, b;`, `const char* c;`, `int64_t d[4];`."""
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (struct, struct), read(header),
                     re.DOTALL).group(1)
    declarations = re.sub(r"//[^\n]*", "", body).split(";")
    return [re.search(r"(\w+)(\[\d+\])?$", name.strip()).group(1)
            for declaration in declarations if declaration.strip()
            for name in declaration.split(",")]


def fields_in_python(struct, module="flashlab_library.py"):
    """Returns the names in _fields_ = [("a", …), …] of the class whose docstring is the struct."""
    for node in ast.parse(read("python/" + module)).body:
        if isinstance(node, ast.ClassDef) and ast.get_docstring(node) == struct:
            (fields,) = [statement.value for statement in node.body
                         if isinstance(statement, ast.Assign)]
            return [field.elts[0].value for field in fields.elts]
    raise AssertionError(f"no class for {struct}")


class Structs(unittest.TestCase):
    def test_python_has_the_fields_of_c(self):
        for struct in ("flashlab_options", "flashlab_tensor", "flashlab_state"):
            self.assertEqual(fields_in_python(struct), fields_in_c(struct))
        self.assertEqual(fields_in_python("flashlab_sharded_problem", "flashlab_ranks.py"),
                         fields_in_c("flashlab_sharded_problem", "flashlab_ranks.h"))

    def test_python_writes_the_options_of_the_operations_where_c_reads_them(self):
        header = read("torch/operations.hpp")
        places = re.search(r"enum TorchOption.*?\{(.*?)\}", header, re.DOTALL).group(1)
        names = re.findall(r"kTorch(\w+)", re.sub(r"//[^\n]*", "", places))
        in_c = [re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in names]
        python = read("python/flashlab_operations.py")
        options = re.search(r"_OPTIONS = \((.*?)\)", python, re.DOTALL).group(1)
        self.assertEqual(re.findall(r'"(\w+)"', options), in_c)
        flags = re.search(r"enum TorchFlag.*?\{(.*?)\}", header, re.DOTALL).group(1)
        values = [int(value) for value in re.findall(r"= (\d+)", flags)]
        written = re.search(r"_ROUND_STATISTICS = ([\d, ]+)", python).group(1)
        self.assertEqual([int(value) for value in written.split(",")], values)


if __name__ == "__main__":
    unittest.main()
