"""Drives the dashboard in Chromium at one width. Arguments: address, API token, width, directory for screenshots.

The caller has stored 60 files of 1 MiB below /cold and one below /elsewhere; "cold" is the only policy.
Prints the name of each step that holds; a step that does not ends the process with the reason.
"""
import sys

from playwright.sync_api import expect, sync_playwright

ADDRESS, TOKEN, WIDTH, SHOTS = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
CHROMIUM = "/usr/bin/chromium"
SLOW_MACHINE_MILLIS = 30_000


def step(name, page):
    scroll = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert scroll <= 0, f"{name}: the page is {scroll} pixels too wide"
    page.screenshot(path=f"{SHOTS}/{WIDTH}-{name}.png", full_page=True)
    print(name, flush=True)


def confirm(page, button, shows):
    """Sees what the dry run tells before confirming it."""
    dialog = page.get_by_role("dialog")
    go = dialog.get_by_role("button", name=button)
    expect(go).to_be_visible()
    expect(dialog.locator("#action-summary")).to_contain_text(shows)
    go.click()
    expect(dialog.locator("#action-summary")).to_contain_text("Done.")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def pause_and_resume(page):
    # By keyboard alone, over a wrong token.
    button = page.get_by_role("button", name="Pause proposing")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Pause proposing")
    dialog.get_by_label("API token").fill("wrong")
    page.keyboard.press("Enter")
    expect(dialog.locator("#action-error")).to_contain_text("not that of this control plane")
    dialog.get_by_label("API token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(dialog.locator("#action-summary")).to_contain_text("proposes no encoding")
    step("dialog", page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#status")).not_to_have_text("paused")

    button.click()
    confirm(page, "Pause proposing", "0 running")
    expect(page.locator("#status")).to_have_text("paused")
    page.get_by_role("button", name="Resume proposing").click()
    confirm(page, "Resume proposing", "proposes again")
    expect(page.locator("#status")).not_to_have_text("paused")
    step("pause", page)


def focus_survives_a_refresh(page):
    page.get_by_role("button", name="Pause proposing").focus()
    with page.expect_response("**/api/v1/jobs"):
        pass
    page.wait_for_timeout(300)
    assert page.evaluate("document.activeElement.dataset.key") == "pause"
    step("focus", page)


def change_bound(page):
    page.get_by_role("button", name="Change the bound of policy cold").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Stored bytes per byte").fill("1.2")
    dialog.get_by_role("button", name="Show what it does").click()
    expect(dialog.locator("#action-error")).to_contain_text("below what PC(6x5) can reach")
    dialog.get_by_label("Stored bytes per byte").fill("1.65")
    dialog.get_by_role("button", name="Show what it does").click()
    confirm(page, "Change the bound", "1.65x instead of 1.5x")
    expect(page.locator(".policy-head")).to_contain_text("of 1.65×")
    step("bound", page)


def browse_and_convert(page):
    page.get_by_role("link", name="Files").click()
    expect(page.locator(".entry:not(.head) .heat").first).to_have_text("0")
    page.get_by_role("link", name="cold/").click()
    expect(page.locator("#crumbs")).to_contain_text("cold")
    rows = page.locator(".entry:not(.head)")
    expect(rows).to_have_count(60)
    step("directory", page)
    page.get_by_role("button", name="Convert /cold to compact").click()
    confirm(page, "Convert to compact", "/cold (files: 60)")
    page.get_by_role("link", name="file-07", exact=True).click()
    file = page.locator("#file")
    expect(file).to_contain_text("Why")
    expect(file).to_contain_text("Heat of its directories")
    expect(file).to_contain_text("ordered by an operator for /cold")
    step("file", page)
    file.get_by_role("button", name="Cancel transition").first.click()
    confirm(page, "Cancel the transition", "ends as FAILED")
    page.reload()
    expect(file.get_by_role("button", name="Retry transition")).to_be_visible()
    file.get_by_role("button", name="Retry transition").click()
    confirm(page, "Retry the transition", "Transition ")


def search(page):
    page.get_by_label("Search").fill("file-0")
    rows = page.locator(".entry:not(.head)")
    expect(rows).to_have_count(10)
    page.get_by_label("Search").fill("/else")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("/elsewhere/")
    page.get_by_label("Search").fill("nowhere")
    expect(page.locator("#entries")).to_contain_text("No path or name begins with “nowhere”")
    step("search", page)
    page.go_back()
    expect(rows).to_have_count(60)


def history(page):
    page.get_by_role("link", name="History").click()
    entries = page.locator("#history-list > li")
    expect(entries.first).to_contain_text("retry")
    expect(page.locator("#history-list")).to_contain_text("1.65x instead of 1.5x")
    step("history", page)


def main():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.set_default_timeout(SLOW_MACHINE_MILLIS)
        expect.set_options(timeout=SLOW_MACHINE_MILLIS)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(ADDRESS)
        expect(page.locator("#tiles")).to_contain_text("Stored per byte")
        step("overview", page)
        for part in (pause_and_resume, focus_survives_a_refresh, change_bound, browse_and_convert, search, history):
            part(page)
        assert not errors, errors
        browser.close()


main()
