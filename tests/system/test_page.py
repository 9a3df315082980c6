"""The page in a real browser: each view, what is live, what is wrong, and what the keyboard reaches."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.system.serving import Serving, serving

from livefacts.server import page as built

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
IMAGES = ROOT / "docs" / "images"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("page"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(not built.is_built(), reason="the page is not built: it needs Node"),
]
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
ROOMS = f"""INSERT DATA {{
    <x:Sensor> <{RDFS}subClassOf> <x:Thing> . <x:in> <{RDFS}range> <x:Room> .
    <x:boiler> a <x:Sensor> ; <x:in> <x:cellar> ; <x:shows> 81 .
    <x:stove> a <x:Sensor> ; <x:in> <x:kitchen> ; <x:shows> 64 .
    <x:window> a <x:Sensor> ; <x:in> <x:kitchen> ; <x:shows> 17 }}"""
SHOWN = "SELECT ?sensor ?degrees { ?sensor <x:shows> ?degrees } ORDER BY ?sensor"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "kb"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    with serving(folder, "--rules", "rdfs") as found:
        found.update(ROOMS)
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with (
        sync_playwright() as player,
        player.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as found,
    ):
        yield found


@pytest.fixture
def page(browser: Browser, server: Serving) -> Iterator[Page]:
    """A page of its own, which must not log an error, nor break the content security policy."""
    context = browser.new_context(base_url=server.url, locale="en-US", accept_downloads=True)
    context.set_default_timeout(15_000)
    found = context.new_page()
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda said: "Content Security" in said.text and wrong.append(said.text))
    yield found
    context.close()
    assert wrong == []


def ask(page: Page, query: str) -> None:
    """Type a query as people do."""
    page.goto("/#/ask")
    expect(page.locator(".editor[data-ready]")).to_be_visible()
    page.locator(".editor textarea").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(query)


def violations(page: Page) -> list[str]:
    """What axe finds."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html']}" for each in found["violations"] for node in each["nodes"]
    ]


def test_now_shows_figures_that_follow_a_change(page: Page, server: Serving) -> None:
    page.goto("/")
    facts = page.locator("[data-figure=facts]")
    before = server.get("/stats").json()["facts"]
    expect(facts).to_have_text(f"{before:,}")
    server.update("INSERT DATA { <x:lamp> a <x:Sensor> }")
    expect(facts).to_have_text(f"{server.get('/stats').json()['facts']:,}")
    expect(page.locator(".plot canvas").first).to_be_visible()
    picture(page, "now")


def test_a_query_is_answered_as_a_table_and_a_chart(page: Page) -> None:
    ask(page, SHOWN)
    page.keyboard.press("Control+Enter")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("x:boiler")
    expect(page.locator(".bar")).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_bytes()
    assert text == b"sensor,degrees\r\nx:boiler,81\r\nx:stove,64\r\nx:window,17\r\n"


def test_a_mistake_is_shown_where_it_stands(page: Page) -> None:
    ask(page, "SELECT ?x\nWHERE { ?x <x:shows> }")
    page.get_by_role("button", name="Run").click()
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("line 2")
    expect(page.locator(".editor .mistake").first).to_be_visible()


def test_rows_come_and_go_while_a_query_is_watched(page: Page, server: Serving) -> None:
    ask(page, SHOWN)
    page.get_by_role("button", name="Keep watching").click()
    expect(page.locator("tbody tr")).to_have_count(3)
    server.update("DELETE DATA { <x:stove> <x:shows> 64 } ; INSERT DATA { <x:stove> <x:shows> 99 }")
    expect(page.locator("tr.came")).to_contain_text("99")
    expect(page.locator("tr.went")).to_contain_text("64")
    picture(page, "ask")
    server.update("DELETE DATA { <x:stove> <x:shows> 99 } ; INSERT DATA { <x:stove> <x:shows> 64 }")


def test_an_update_asks_for_the_token_once(page: Page, server: Serving) -> None:
    ask(page, "INSERT DATA { <x:page> <x:wrote> 1 }")
    page.get_by_role("button", name="Run").click()
    page.get_by_label("Token", exact=True).fill(server.token)
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("[data-said]")).to_contain_text("Change")
    ask(page, "DELETE DATA { <x:page> <x:wrote> 1 }")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("[data-said]")).to_contain_text("0 facts came, 5 went")
    assert page.evaluate("Object.keys(localStorage)") == []


def picture(page: Page, name: str) -> None:
    """A picture for the documentation, where LIVEFACTS_PICTURES asks for them."""
    if os.environ.get("LIVEFACTS_PICTURES"):
        page.screenshot(path=IMAGES / f"page-{name}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["now", "ask"])
def test_axe_finds_no_violation(page: Page, view: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"/#/{view}")
    expect(page.locator("main")).to_have_attribute("aria-busy", "false")
    if view == "ask":
        page.goto("/#/ask?query=SELECT ?s ?p ?o { ?s ?p ?o } LIMIT 5")
        expect(page.locator("tbody tr")).to_have_count(5)
    assert violations(page) == []


@pytest.mark.parametrize("view", ["now", "ask"])
def test_a_narrow_window_has_one_column_and_nothing_beside_it(page: Page, view: str) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"/#/{view}")
    expect(page.locator("main")).to_have_attribute("aria-busy", "false")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_first_view_is_small_and_files_are_kept(server: Serving) -> None:
    first = server.get("/", headers={"Accept": "text/html"})
    assert first.headers["cache-control"] == "no-cache"
    names = [part.split('"')[0] for part in first.text.split('="./')[1:]]
    answers = [server.get(f"/{name}", headers={"Accept-Encoding": "gzip"}) for name in names]
    assert all("immutable" in each.headers["cache-control"] for each in answers)
    assert sum(each.num_bytes_downloaded for each in answers) < 150_000


def test_programs_get_the_list_of_paths(server: Serving) -> None:
    assert "/sparql" in server.get("/").json()["paths"]
