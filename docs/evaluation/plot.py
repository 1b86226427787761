"""Draws the plots of docs/evaluation.md from the CSV files beside this script (needs matplotlib)."""

import csv
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).parent
WORKLOADS = ["CC1", "CC2", "CC3", "CC4", "FB"]
PAPER = ["EbbFS-PC, bound 1.5", "EbbFS-LRC, bound 1.4", "RS(6,3)", "LRC(12,2,2)", "RS(10,4)"]
COLORS = dict(zip(PAPER, ["#0072b2", "#56b4e9", "#e69f00", "#009e73", "#999999"]))
# Equal input gives an equal file.
plt.rcParams.update({"svg.hashsalt": "ebbfs", "svg.fonttype": "none", "font.size": 9})


def rows(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def latencies():
    """(median, lowest, highest) in ms by system and workload."""
    found = {}
    for row in rows("degraded-reads.csv"):
        values = [float(row[key]) for key in ("median_ms", "lowest_ms", "highest_ms")]
        for workload in WORKLOADS if row["workload"] == "all" else [row["workload"]]:
            found[row["system"], workload] = values
    return found


def save(figure, name, top=1.0):
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout(rect=(0, 0, 1, top))
    figure.savefig(HERE / name, metadata={"Date": None})
    plt.close(figure)


def degraded_reads():
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    found = latencies()
    for i, system in enumerate(PAPER):
        x = [at + (i - 2) * 0.16 for at in range(len(WORKLOADS))]
        values = [found[system, workload] for workload in WORKLOADS]
        spread = [[m - low for m, low, _ in values], [high - m for m, _, high in values]]
        axes.bar(x, [m for m, _, _ in values], 0.15, yerr=spread, capsize=2,
                 error_kw={"linewidth": 0.7}, color=COLORS[system], label=system)
    axes.set_xticks(range(len(WORKLOADS)), WORKLOADS)
    axes.set_xlabel("workload")
    axes.set_ylabel("degraded read of a block (ms)")
    axes.set_ylim(0, 980)
    axes.legend(ncol=3, frameon=False, loc="upper center")
    save(figure, "degraded-reads.svg")


def storage_and_reads():
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    found = latencies()
    for row in rows("systems.csv"):
        system = row["system"]
        if system == "three replicas":
            continue  # 3.0 bytes a byte would squeeze all other points.
        x = float(row["stored_bytes_per_byte"])
        y = sum(found[system, workload][0] for workload in WORKLOADS) / len(WORKLOADS)
        adapts = system.startswith("EbbFS")
        axes.plot(x, y, "o" if adapts else "s", color="#0072b2" if adapts else "#e69f00")
        below = system == "EbbFS-LRC, no bound"
        axes.annotate(system, (x, y), xytext=(6, -13 if below else 5), textcoords="offset points")
    axes.set_xlabel("stored bytes per byte of data")
    axes.set_ylabel("degraded read of a block (ms),\nmean of five workloads")
    axes.set_xlim(1.3, 1.6)
    axes.set_ylim(0, 780)
    axes.grid(alpha=0.3)
    save(figure, "storage-and-reads.svg")


def reconstruction():
    figure, (moved, seconds) = plt.subplots(1, 2, figsize=(7.5, 3.2))
    by_system = {row["system"]: row for row in rows("systems.csv")}
    for i, what in enumerate(("disk", "server")):
        y = [at + (i - 0.5) * 0.38 for at in range(len(PAPER))]
        color = ("#56b4e9", "#0072b2")[i]
        for axes, key in ((moved, "blocks_moved"), (seconds, "s")):
            values = [float(by_system[system][f"{what}_{key}_per_data_block"]) for system in PAPER]
            axes.barh(y, values, 0.36, color=color, label=what)
    single = [float(by_system[s]["arithmetic_blocks_moved_per_data_block"]) for s in PAPER]
    moved.vlines(single, [at - 0.42 for at in range(len(PAPER))],
                 [at + 0.42 for at in range(len(PAPER))], "k", label="arithmetic of one lost block")
    moved.set_yticks(range(len(PAPER)), PAPER)
    seconds.set_yticks(range(len(PAPER)), [])
    moved.set_xlabel("blocks read and written\nper lost data block")
    seconds.set_xlabel("seconds per lost data block")
    for axes in (moved, seconds):
        axes.invert_yaxis()
    figure.legend(*moved.get_legend_handles_labels(), ncol=3, frameon=False, loc="upper center")
    save(figure, "reconstruction.svg", top=0.92)


if __name__ == "__main__":
    degraded_reads()
    storage_and_reads()
    reconstruction()
