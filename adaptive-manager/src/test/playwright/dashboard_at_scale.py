"""Looks at the dashboard of very many files in Chromium, at the widths of a telephone and of a screen.

Arguments: address, API token, number of files, directory for screenshots, the most milliseconds of one answer of the API.
The caller is './ebb verify scale --serve'. Prints how long the answers take; ends with a reason if those of an address take
longer at the median (an answer may wait for other work of the machine), or if a page holds more elements than it may.
"""
import re
import sys
from collections import defaultdict

import browser
from playwright.sync_api import expect

ADDRESS, TOKEN, FILES, SHOTS, MOST_MILLIS = sys.argv[1].rstrip("/"), sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5])
MOST_ROWS = 1_000
MOST_ELEMENTS = 12_000
SERVERS = 500
FLAT = "/data/flat"
times = defaultdict(list)


def note(request):
    if "/api/v1/" in request.url and request.response():
        timing = request.timing
        times[request.url.split("/api/v1/")[1].split("?")[0]].append(timing["responseEnd"] - timing["requestStart"])


def holds(name, page, width):
    elements = page.evaluate("document.querySelectorAll('*').length")
    assert elements <= MOST_ELEMENTS, f"{name}: the page has {elements} elements"
    browser.step(name, page, SHOTS, width)


def overview(page, width):
    expect(page.locator("#tiles")).to_contain_text(f"{FILES:,}")
    with page.expect_response("**/api/v1/jobs"):
        pass
    servers = page.locator(".server")
    expect(servers).to_have_count(60)
    holds("overview", page, width)
    page.get_by_role("button", name=f"Show all {SERVERS} servers").click()
    expect(servers).to_have_count(SERVERS)
    page.get_by_role("button", name="Show fewer").click()
    expect(servers).to_have_count(60)


def dry_run(page, width):
    page.get_by_role("button", name="What the policies would decide now").click()
    dialog = page.get_by_role("dialog")
    token = dialog.get_by_label("API token")
    if token.is_visible():
        token.fill(TOKEN)
        dialog.get_by_role("button", name="Show what it does").click()
    expect(dialog.locator("#action-summary")).to_contain_text(re.compile("[0-9] decision|Nothing is to be"))
    holds("dry-run", page, width)
    page.keyboard.press("Escape")


def directory(page, width):
    page.goto(ADDRESS + "/#/files" + FLAT)
    rows = page.locator(".entry:not(.head)")
    expect(rows).to_have_count(100)
    expect(rows.first).to_contain_text("f00000000")
    pages = min(12, FILES // 10 // 100)
    for number in range(2, pages + 1):
        page.get_by_role("button", name="Show more").click()
        expect(page.get_by_role("status")).to_contain_text(f"to {100 * number:,} are shown")
    assert rows.count() == min(MOST_ROWS, 100 * pages), f"{rows.count()} rows"
    holds("directory", page, width)
    if pages > MOST_ROWS // 100:
        page.get_by_role("button", name="Back to the first").click()
        expect(rows).to_have_count(100)
        expect(rows.first).to_contain_text("f00000000")


def search(page, width):
    rows = page.locator(".entry:not(.head)")
    for text, first in (("f0000001", FLAT + "/f00000010"), (FLAT + "/f000000", FLAT + "/f00000000"), ("d00000", "/data/d000000/")):
        page.get_by_label("Search").fill(text)
        expect(rows.first).to_contain_text(first)
    page.get_by_label("Search").fill("f")
    expect(page.get_by_role("status")).to_contain_text("1 to 100 are shown; there are more.")
    holds("search", page, width)
    page.get_by_label("Search").fill("00000010")
    expect(page.locator("#entries")).to_contain_text("A part from the middle of a name is not searched for")
    holds("search-middle", page, width)


def explanation(page, width):
    for name in ("/d000000/f000", "/d000000/f050", "/flat/f00000999"):
        page.goto(ADDRESS + "/#/file/data" + name)
        expect(page.locator("#file")).to_contain_text("Why")
        expect(page.locator("#crumbs")).to_contain_text(name.split("/")[-1])
        expect(page.locator("#file")).to_contain_text("PC(" if not name.endswith("999") else "State")
    holds("file", page, width)


def history(page, width):
    page.get_by_role("link", name="History").click()
    expect(page.locator("#history-list > li").first).to_contain_text("by policy data")
    holds("history", page, width)


PARTS = (overview, dry_run, directory, search, explanation, history)


def look(width):
    def all_parts(page):
        page.on("requestfinished", note)
        for part in PARTS:
            part(page, width)

    browser.with_page(ADDRESS, width, all_parts)


def main():
    look(390)
    # The first answers load classes and wait for a cold compiler.
    times.clear()
    look(1280)
    slow = []
    for path, millis in sorted(times.items()):
        millis.sort()
        median = millis[len(millis) // 2]
        print(f"{path:20} {len(millis):4} answers, {median:6.0f} ms at the median, {millis[-1]:6.0f} ms at most")
        # A dry run is a whole run of the policies, not the answer of a page.
        if median > MOST_MILLIS and path != "policies/evaluate":
            slow.append(path)
    assert not slow, f"longer than {MOST_MILLIS:.0f} ms at the median: {slow}"


main()
