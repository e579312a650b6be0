"""Runs the tasks of .gpu_try_tasks.json side by side for a while, then a few timed runs alone."""
import concurrent.futures, json, os, subprocess, sys, time
COMMAND, OUT = sys.argv[1], sys.argv[2]
START = time.time()
SWEEP_SECONDS = 75

def call(arguments, limit=15):
    begun = time.time()
    try:
        done = subprocess.run([COMMAND, "gpu", *arguments, "--json", "--time-limit", str(limit)],
                              capture_output=True, text=True, timeout=limit + 30)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, err = -1, "", "killed by the driver"
    result = {"arguments": arguments, "code": code, "wall_s": round(time.time() - begun, 2)}
    if code == 0:
        result["run"] = json.loads(out)
    else:
        result["error"] = err[-2000:]
    return result

def sweep():
    tasks = json.load(open(".gpu_try_tasks.json"))
    tiled = [t for t in tasks if t[t.index("--dtype") + 1] != "float" and " tile " in open(t[0] if "/" in t[0] else f"toymachine/programs/{t[0]}.toy").read()]
    tasks = [x for pair in zip(tasks, [t + ["--level", "1"] for t in tiled]) for x in pair] + tasks[len(tiled):]
    results = []
    def guarded(task):
        return call(task + ["--repeat", "1", "--check", "2"]) if time.time() - START < SWEEP_SECONDS else None
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for result in pool.map(guarded, tasks):
            if result:
                results.append(result)
    json.dump(results, open(os.path.join(OUT, "sweep.json"), "w"))
    bad = [r for r in results if r["code"] != 0]
    print(f"{len(results)} of {len(tasks)} tasks ran, {len(bad)} failed, {time.time() - START:.0f} s")
    for r in bad[:40]:
        print(" ".join(r["arguments"]), "->", r["code"], r["error"].strip()[:600])
    seconds = sorted(r["run"]["gpu"]["compile_seconds"] for r in results if r["code"] == 0)
    if seconds:
        print("NVRTC seconds: median", seconds[len(seconds) // 2], "most", seconds[-1])

TIMED = [
    ["flash2", "-D", "n=4096,d=64,B=32", "--heads", "32", "--level", "1", "--dtype", "bf16"],
    ["flash2", "-D", "n=4096,d=64,B=64,Bk=64", "--heads", "32", "--level", "1", "--dtype", "bf16", "--sram", "h100"],
    ["flash2", "-D", "n=4096,d=128,B=64,Bk=64", "--heads", "16", "--level", "1", "--dtype", "bf16", "--sram", "h100"],
    ["bwd_twopass", "-D", "n=4096,d=64,B=32", "--heads", "8", "--level", "1", "--dtype", "bf16", "--sram", "h100"],
    ["bwd_onepass", "-D", "n=4096,d=64,B=32", "--heads", "8", "--level", "1", "--dtype", "fp16", "--sram", "h100"],
    ["flash2_causal", "-D", "n=4096,d=64,B=32", "--heads", "32", "--level", "1", "--dtype", "bf16"],
    ["flash2", "-D", "n=4096,d=64,B=32", "--heads", "32"],
    ["flash2_causal", "-D", "n=4096,d=64,B=32", "--heads", "32"],
    ["flash2", "-D", "n=4096,d=64,B=32", "--heads", "32", "--dtype", "bf16"],
    ["fused_softmax", "-D", "n=4096,d=64,B=32", "--heads", "4"],
    ["naive", "-D", "n=4096,d=64,B=32", "--heads", "4"],
    ["bwd_twopass", "-D", "n=4096,d=64,B=16", "--heads", "8"],
    ["bwd_onepass", "-D", "n=4096,d=64,B=16", "--heads", "8"],
    ["flash2", "-D", "n=16384,d=64,B=32", "--heads", "2"],
]

def timed():
    results = []
    for arguments in TIMED:
        if time.time() - START > 35:
            print("not run:", arguments)
            continue
        r = call(arguments + ["--repeat", "3"])
        results.append(r)
        if r["code"] != 0:
            print(" ".join(arguments), "->", r["code"], r["error"].strip()[:600])
            continue
        run = r["run"]
        print(" ".join(arguments), "measured", run["measured"]["median_ms"], "ms, predicted", run["predicted_ms"],
              "launches", [l["measured"]["median_ms"] for l in run["launches"]],
              "registers", [l["registers"] for l in run["launches"]], "local", [l["local_bytes"] for l in run["launches"]],
              "wall", r["wall_s"], "|", run["sentence"])
    json.dump(results, open(os.path.join(OUT, "timed.json"), "w"), indent=1)

def text_and_counters():
    done = subprocess.run([COMMAND, "gpu", "flash2", "-D", "n=4096,d=64,B=32", "--heads", "32"], capture_output=True, text=True, timeout=60)
    print(done.stdout, done.stderr)
    metrics = ("lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum,lts__t_sectors_srcunit_tex_op_red.sum,"
               "l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum,"
               "dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum,smsp__inst_executed.sum,"
               "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,"
               "sm__inst_executed.avg.pct_of_peak_sustained_elapsed,l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed")
    for name, arguments in (("flash2", ["-D", "n=2048,d=64,B=32", "--heads", "8", "--level", "1", "--dtype", "bf16"]), ("bwd_twopass", ["-D", "n=1024,d=64,B=16", "--heads", "8"])):
        if time.time() - START > 88:
            return
        try:
            done = subprocess.run(["ncu", "--csv", "--target-processes", "all", "--clock-control", "none",
                                   "-k", f"regex:{name}_", "-c", "3", "--metrics", metrics, COMMAND, "gpu", name, *arguments,
                                   "--repeat", "1", "--json"], capture_output=True, text=True, timeout=30)
            open(os.path.join(OUT, f"ncu_{name}.csv"), "w").write(done.stdout + done.stderr)
            print("ncu", name, done.returncode, done.stdout[-300:] if done.returncode else "")
        except Exception as error:
            print("ncu", name, error)

timed()
sweep()
text_and_counters()
