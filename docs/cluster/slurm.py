"""A cluster on Slurm for as long as this runs: python docs/cluster/slurm.py WORKERS."""

import sys

from dask_jobqueue import SLURMCluster

if __name__ == "__main__":
    with SLURMCluster(scheduler_options={"port": 8786, "dashboard": False}) as cluster:
        cluster.scale(int(sys.argv[1]))
        print(f"katze grade LESSON --scheduler {cluster.scheduler_address}", flush=True)
        input("Enter ends the workers. ")
