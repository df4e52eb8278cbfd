"""Makes hospital tables with the columns, the sizes and the defects of real ones; no patient is in them.

    python tables.py            # 768 admissions, for a laptop
    python tables.py --full     # 58,976 admissions and about 11 million lab events
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

ITEMS, CATEGORIES, DISEASES, DAYS = 753, 9, 12, 21
CONSTANT, NOISY = 12, 4


def lab_items(rng):
    """The catalogue: item 50800 and up, each with a category, a typical value and its spread."""
    typical = np.round(rng.lognormal(2.5, 1.2, ITEMS) + 0.1, 2)
    spread = np.round(typical * rng.uniform(0.05, 0.4, ITEMS), 3)
    # A dilution factor, a unit code, the lot of a reagent: the same number for every patient. They are ordered rarely.
    rare = np.arange(ITEMS - CONSTANT - NOISY, ITEMS)
    spread[rare[:CONSTANT]] = 0
    spread[rare[CONSTANT:]] = 1e-16
    return pd.DataFrame(
        {
            "ITEMID": 50_800 + np.arange(ITEMS),
            "CATEGORY": rng.integers(0, CATEGORIES, ITEMS),
            "TYPICAL": typical,
            "SPREAD": spread,
            "IS_RARE": np.isin(np.arange(ITEMS), rare),
        }
    )


def habits(rng, items):
    """Which items each disease is followed by, and on which days of the stay."""
    usual = np.flatnonzero(~items["IS_RARE"].to_numpy())
    popularity = 1 / (1 + np.arange(len(usual))) ** 0.7
    chosen = [rng.choice(usual, 30, replace=False, p=popularity / popularity.sum()) for _ in range(DISEASES)]
    return chosen, rng.integers(1, 5, (DISEASES, 30))


def lab_events(rng, items, admissions):
    """Events of all admissions: a disease orders its items every few days; a rare item comes up now and then."""
    chosen, every = habits(rng, items)
    rare = np.flatnonzero(items["IS_RARE"])
    parts = []
    for number in range(admissions):
        disease = rng.integers(DISEASES)
        stay = rng.integers(8, DAYS + 1)
        day, item = np.nonzero((np.arange(stay)[:, None] + 1) % every[disease] == 0)
        kept = rng.random(len(day)) < 0.85
        day, item = day[kept], chosen[disease][item[kept]]
        if rng.random() < 0.10:
            day, item = np.append(day, rng.integers(stay)), np.append(item, rng.choice(rare))
        parts.append(pd.DataFrame({"HADM_ID": 100_000 + number, "DAY": day, "INDEX": item}))
    events = pd.concat(parts, ignore_index=True)
    typical = items["TYPICAL"].to_numpy()[events["INDEX"]]
    spread = items["SPREAD"].to_numpy()[events["INDEX"]]
    events["VALUENUM"] = np.where(
        spread > 1e-9, np.round(typical + spread * rng.normal(size=len(events)), 3), typical + spread
    )
    return events


def as_written(rng, events, items):
    """The table as the hospital writes it: times, categories, some empty values, some rows twice."""
    start = np.datetime64("2130-01-01T00:00")
    hours = events["DAY"] * 24 + rng.integers(0, 24, len(events))
    events["CHARTTIME"] = start + hours.to_numpy() * np.timedelta64(1, "h")
    events["ITEMID"] = items["ITEMID"].to_numpy()[events["INDEX"]]
    events["CATEGORY"] = items["CATEGORY"].to_numpy()[events["INDEX"]]
    is_rare = items["IS_RARE"].to_numpy()[events["INDEX"]]
    events.loc[(rng.random(len(events)) < 0.01) & ~is_rare, "VALUENUM"] = np.nan
    again = events.sample(frac=0.01, random_state=0)
    table = pd.concat([events, again]).sort_values(["HADM_ID", "CHARTTIME", "ITEMID"], kind="stable")
    return table[["HADM_ID", "ITEMID", "CHARTTIME", "VALUENUM", "CATEGORY"]]


def write(table, path, **options):
    """Under another name until it is complete: a run that is interrupted leaves no table that looks whole."""
    unfinished = path.with_name(f"unfinished-{path.name}")
    table.to_csv(unfinished, index=False, **options)
    unfinished.replace(path)


def make(folder, admissions, seed=2):
    """Write LABEVENTS, D_LABITEMS and, last of all, ADMISSIONS: where it is, the others are whole and belong to it."""
    rng = np.random.default_rng(seed)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    items = lab_items(rng)
    events = as_written(rng, lab_events(rng, items, admissions), items)
    (folder / "ADMISSIONS.csv.gz").unlink(missing_ok=True)
    write(events, folder / "LABEVENTS.csv.gz", compression={"method": "gzip", "compresslevel": 1})
    write(items[["ITEMID", "CATEGORY"]], folder / "D_LABITEMS.csv.gz")
    write(pd.DataFrame({"HADM_ID": 100_000 + np.arange(admissions)}), folder / "ADMISSIONS.csv.gz")
    return len(events)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="data")
    parser.add_argument("--admissions", type=int, default=768)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    rows = make(options.folder, 58_976 if options.full else options.admissions)
    print(f"{rows} lab events in {options.folder}/LABEVENTS.csv.gz")


if __name__ == "__main__":
    main()
