"""What the tests of the dashboard share: Debian's Chromium, and what must hold on every page."""
from playwright.sync_api import expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
SLOW_MACHINE_MILLIS = 30_000

# The text of a page that stands out too little from what is behind it, by the formula of WCAG 2.1: 4.5 to 1, large text 3 to 1.
FAINT_TEXT = """() => {
  const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = channel => channel <= 10.31 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = rgb(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of [...document.body.querySelectorAll('*')].slice(0, 4000)) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || element.namespaceURI.endsWith('svg') || !element.checkVisibility() || element.disabled) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(rgb(style.color)), luminance(behind(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < (large ? 3 : 4.5)) faint.push(contrast.toFixed(2) + ': ' + element.textContent.trim().slice(0, 40));
  }
  return faint;
}"""

# Buttons, links and fields that a screen reader could not name.
NAMELESS = """() => [...document.querySelectorAll('button, a, input, select, textarea')].filter(element => element.checkVisibility()
    && !element.textContent.trim() && !element.getAttribute('aria-label') && !(element.labels && element.labels.length))
    .map(element => element.outerHTML.slice(0, 80))"""


def step(name, page, shots, width):
    """What holds on every page: nothing is wider than the screen, text can be read in both schemes, everything has a name."""
    scroll = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert scroll <= 0, f"{name}: the page is {scroll} pixels too wide"
    nameless = page.evaluate(NAMELESS)
    assert not nameless, f"{name}: without a name: {nameless}"
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        faint = page.evaluate(FAINT_TEXT)
        assert not faint, f"{name}: faint text, {scheme}: {faint}"
    page.screenshot(path=f"{shots}/{width}-{name}.png", full_page=True)
    print(name, flush=True)


def with_page(address, width, test):
    """Runs a test on a page of Chromium. The test fails if a script of the page fails."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_default_timeout(SLOW_MACHINE_MILLIS)
        expect.set_options(timeout=SLOW_MACHINE_MILLIS)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        test(page)
        assert not errors, errors
        browser.close()


def confirm(page, button, *shows):
    """Sees what the dry run tells before confirming it."""
    dialog = page.get_by_role("dialog")
    go = dialog.get_by_role("button", name=button)
    expect(go).to_be_visible()
    for text in shows:
        expect(dialog.locator("#action-summary")).to_contain_text(text)
    go.click()
    expect(dialog.locator("#action-summary")).to_contain_text("Done.")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
