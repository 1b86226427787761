"""Drives the dashboard in Chromium at one width. Arguments: address, API token, width, directory for screenshots.

The caller has stored 60 files of 1 MiB below /cold, 60 encoded ones below /frozen, and one below /elsewhere; the policies
are "cold" and "frozen". The parity scrub has ended its third pass. The drain of server-5 is refused.
Prints the name of each step that holds; a step that does not ends the process with the reason.
"""
import re
import sys

import browser
from browser import confirm
from playwright.sync_api import expect

ADDRESS, TOKEN, WIDTH, SHOTS = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def step(name, page):
    browser.step(name, page, SHOTS, WIDTH)


def overview(page):
    expect(page.locator("#tiles")).to_contain_text("Stored per byte")
    expect(page.locator("#risk")).to_contain_text("ago; 600 of about 1,000 so far. All stripes were not looked at yet; 7 so far.")
    step("overview", page)


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
    confirm(page, "Change the bound", "1.65x instead of 1.5x", "room for")
    expect(page.locator("#policies .policy-head").first).to_contain_text("of 1.65×")
    step("bound", page)


def change_cluster_bound(page):
    page.get_by_role("button", name="Change the bound of the cluster").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Stored bytes per byte").fill("1.2")
    dialog.get_by_role("button", name="Show what it does").click()
    expect(dialog.locator("#action-error")).to_contain_text("of the cluster is below what its policies can reach")
    dialog.get_by_label("Stored bytes per byte").fill("1.7")
    dialog.get_by_role("button", name="Show what it does").click()
    confirm(page, "Change the bound", "The bound of the cluster is 1.7x instead of none", "stores 1.400x now", "room for")
    expect(page.locator("#cluster-bound")).to_contain_text("of 1.70×")
    step("cluster bound", page)


def preview(page):
    """An edit is previewed, a wrong one is refused with its line, and both are left for the policies in force."""
    page.get_by_role("link", name="Preview").click()
    text = page.get_by_label("The text of policies.yaml")
    expect(text).to_have_value(re.compile("storageBound: 1.7\n.*name: frozen", re.DOTALL))
    in_force = text.input_value()
    text.fill(in_force.replace("writeColdAfter: 1h", "writeColdAfter: 1s"))
    page.get_by_role("button", name="Preview these policies").click()
    result = page.locator("#preview-result")
    expect(result).to_contain_text("60.0 MiB of data would be encoded or converted.")
    expect(result.get_by_role("row", name="cold")).to_contain_text("84.0 MiB")
    expect(result.get_by_role("row", name="All policies")).to_contain_text("1.70×")
    expect(result).to_contain_text("encode → PC(6x5) by policy cold")
    step("preview", page)
    text.fill(in_force.replace("family: product", "family: prodct"))
    page.get_by_role("button", name="Preview these policies").click()
    expect(page.locator("#preview-error")).to_contain_text("did you mean 'product'?")
    expect(result).to_be_empty()
    step("preview refused", page)
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Preview").click()
    expect(text).to_have_value(re.compile("prodct"))
    page.get_by_role("button", name="Back to the policies in force").click()
    expect(text).to_have_value(in_force)
    # The overview draws its buttons anew when it is shown.
    with page.expect_response("**/api/v1/jobs"):
        page.get_by_role("link", name="Overview").click()
    page.wait_for_timeout(300)


def late_answer(page):
    """The answer of a dry run whose dialog was closed does not land in the next dialog."""
    held = []
    pause = re.compile(r"/api/v1/actions/pause\?")
    page.route(pause, lambda route: held.append(route))
    with page.expect_request(pause):
        page.get_by_role("button", name="Pause proposing").click()
    page.wait_for_timeout(200)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change the bound of policy cold").click()
    with page.expect_response(pause):
        held[0].continue_()
    page.wait_for_timeout(300)
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("#action-summary")).to_be_empty()
    expect(dialog.get_by_role("button", name="Show what it does")).to_be_enabled()
    page.keyboard.press("Escape")
    page.unroute(pause)
    step("late answer", page)


def dry_run(page):
    page.get_by_role("button", name="What the policies would decide now").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("#action-summary")).to_contain_text("Nothing is to be encoded or converted now.")
    expect(dialog.get_by_role("button", name="Decide this now")).to_have_count(0)
    step("dry-run", page)
    page.keyboard.press("Escape")


def drain_and_take_back(page):
    page.get_by_role("button", name="Drain server server-5:9005").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("#action-error")).to_contain_text("11 live servers stay: add servers")
    expect(dialog.get_by_role("button", name="Drain the server")).to_have_count(0)
    step("drain-refused", page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Drain server server-3:9003").click()
    confirm(page, "Drain the server", "1,234 blocks (5 GiB)", "11 live servers stay, with 9 GiB free")
    expect(page.locator("#servers")).to_contain_text("draining: its blocks are being counted")
    step("draining", page)
    page.get_by_role("button", name="Take server server-3:9003 back").click()
    confirm(page, "Take the server back", "its 1,234 blocks count again")
    expect(page.get_by_role("button", name="Drain server server-3:9003")).to_be_visible()


def hibernate_and_wake(page):
    page.get_by_role("button", name="Let server server-3:9003 hibernate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("How long").select_option("2h")
    step("hibernate", page)
    dialog.get_by_role("button", name="Show what it does").click()
    confirm(page, "Let the server hibernate", "Server server-3:9003 takes no new blocks", "nothing is repaired")
    expect(page.locator("#servers")).to_contain_text("is to hibernate: its blocks are being checked")
    expect(page.get_by_role("button", name="Drain server server-3:9003")).to_have_count(0)
    step("hibernating", page)
    page.get_by_role("button", name="Wake server server-3:9003").click()
    confirm(page, "Wake the server")
    expect(page.get_by_role("button", name="Let server server-3:9003 hibernate")).to_be_visible()


def level_and_stop(page):
    page.get_by_role("button", name="Level the disks").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("How far from the mean").select_option("0.05")
    dialog.get_by_role("button", name="Show what it does").click()
    confirm(page, "Level the disks", "5.0%", "100 MiB")
    page.get_by_role("button", name="Stop levelling the disks").click()
    confirm(page, "Stop levelling")
    step("levelled", page)


def scrub(page):
    page.get_by_role("button", name="Start a parity scrub").click()
    confirm(page, "Start the scrub", "Pass 4 of the parity scrub", "checked 40 stripes and found 2")


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


def make_replicas(page):
    page.goto(ADDRESS + "/#/files/frozen")
    page.get_by_role("button", name="Convert /frozen to replicas").click()
    confirm(page, "Convert to replicas", "/frozen (files: 60): 60 MiB leave their stripes", "more are stored")


def pin(page):
    page.get_by_role("button", name="Pin /frozen").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Pin to").select_option("replicas")
    step("pin", page)
    dialog.get_by_role("button", name="Show what it does").click()
    confirm(page, "Set the pin", "The pin of /frozen is 'replicas' instead of 'none'", "It concerns 60 files with 60 MiB")
    page.goto(ADDRESS + "/#/file/frozen/file-07")
    page.get_by_role("button", name="Pin /frozen/file-07").click()
    dialog.get_by_label("Pin to").select_option("none")
    dialog.get_by_role("button", name="Show what it does").click()
    expect(dialog.locator("#action-error")).to_contain_text("/frozen/file-07 has no pin of its own")
    dialog.get_by_label("Pin to").select_option("compact")
    dialog.get_by_role("button", name="Show what it does").click()
    confirm(page, "Set the pin", "It concerns 1 file with 1 MiB")


def search(page):
    page.goto(ADDRESS + "/#/files/cold")
    rows = page.locator(".entry:not(.head)")
    expect(rows).to_have_count(60)
    page.get_by_label("Search").fill("file-0")
    expect(rows).to_have_count(20)
    page.get_by_label("Search").fill("/else")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("/elsewhere/")
    page.get_by_label("Search").fill("le-07")
    expect(page.locator("#entries")).to_contain_text("No name begins with “le-07”. A part from the middle of a name is not")
    expect(page.locator("#crumbs")).to_have_text("Search: le-07")
    expect(page.locator("#file-actions button")).to_have_count(0)
    step("search", page)
    page.get_by_label("Search").fill("")
    expect(rows).to_have_count(60)


def history(page):
    page.get_by_role("link", name="History").click()
    entries = page.locator("#history-list > li")
    expect(entries.first).to_contain_text("pin")
    expect(page.locator("#history-list")).to_contain_text("1.65x instead of 1.5x")
    expect(page.locator("#history-list")).to_contain_text("release → replicas")
    step("history", page)


PARTS = (overview, pause_and_resume, focus_survives_a_refresh, change_bound, change_cluster_bound, preview, late_answer, dry_run, drain_and_take_back,
         hibernate_and_wake, level_and_stop, scrub, browse_and_convert, make_replicas, pin, search, history)


def main():
    browser.with_page(ADDRESS, WIDTH, lambda page: [part(page) for part in PARTS])


main()
