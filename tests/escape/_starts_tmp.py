import sys, os, time, random, json
sys.path.insert(0,"/work/main/tests/escape")
import ground, killed_run, subprocess
from killed_run import *
before=ground.take_snapshot()
bad=[]
for i in range(120):
    v=start_victim("namespaces"); d=random.uniform(0.3,0.9); time.sleep(d); v.kill(); v.wait()
    left=[x for x in ground.left_since(before,within_s=2) if not x.startswith("groups")]
    if left:
        info=[]
        for x in left:
            pid=x.split()[1]
            try: info.append((open(f'/proc/{pid}/status').read().split('PPid:')[1][:8], open(f'/proc/{pid}/stack').read(), open(f'/proc/{pid}/syscall').read(),open(f'/proc/{pid}/stat').read(), open(f"/proc/{pid}/wchan").read(), open(f"/proc/{pid}/stat").read()[:60], os.listdir(f"/proc/{pid}/fd"), [os.readlink(f"/proc/{pid}/fd/{f}") for f in os.listdir(f"/proc/{pid}/fd")], open(f"/proc/{pid}/status").read().count("x")))
            except Exception as e: info.append(repr(e))
        print(i,d,left,info,flush=True); before=ground.take_snapshot()
print("done")
