// What the page says about a graph, and when.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, command, file, folder, limit, open, pixel, serve, settings, settled, shots, until } from "./browser.mjs";

test("drawing and neighbours do not wait for a learner; an early one predicts until that of all is there", limit, async () => {
  const page = await open("", { at: await serve(file("chains.csv", chains(2340))) });
  await until(page, "app.places !== null");
  const took = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const begin = performance.now();
    const since = async (there) => {
      while (!there()) await new Promise((r) => setTimeout(r, 5));
      return performance.now() - begin;
    };
    app.open("7");
    const heads = () => [...document.querySelectorAll("#detail h3")].map((e) => e.textContent);
    const near = await since(() => document.querySelector("#detail .paper path") && heads().includes("Most similar graphs"));
    const evaluated = app.evaluation && !app.evaluation.note;
    const early = await since(() => document.querySelector("#detail .says"));
    const note = document.querySelector("#detail").innerText.includes("first learner");
    const all = await since(() => app.evaluation && !app.evaluation.note);
    return { near, early, all, evaluated, note };
  });
  assert.ok(!took.evaluated && took.near < took.all / 4, `neighbours after ${took.near} ms, all predictions after ${took.all} ms`);
  assert.ok(took.note, "the prediction is that of an early learner");
  assert.match(await page.locator("#detail .card .value").first().innerText(), /−?\d+(\.\d+)? · [01]\.\d{3}/); // measured, and how similar
  await page.locator("#detail").filter({ hasText: "With this graph in training the learner says" }).waitFor();
  await page.waitForFunction(() => !document.getElementById("detail").innerText.includes("first learner"));
  assert.match(await page.locator("#score").innerText(), /^R² \d\.\d\d\s+logP: error/);
  await page.locator("#work").waitFor({ state: "hidden" }); // nothing is said to be tested once the score is final
  const text = await page.locator("#detail").innerText();
  assert.match(text, /prediction without this graph\s+logP −?\d/i);
  assert.match(text, /A measurement lies between .* and .* with a probability of 90 %\. ± .* is the standard deviation of measurements/);
  assert.match(text, /\blogP −?\d[\d.]*, [\d.]+ (above|below) the mean of/);
  assert.doesNotMatch(text, /(^|\s)-\d/, "numbers have minus signs");
  await close(page, "said");
});

// uneven has a rare class and a value, in a column each.
const uneven = `smiles,toxic,logP\n${Array.from({ length: 120 }, (_, i) => `${"C".repeat(1 + i % 17)}${["O", "N", "Cl", "S", "C(=O)O", "c1ccccc1", "C#N"][i % 7]},${Number(i % 7 === 3 && i < 80)},${(i % 17) * 0.4}`).join("\n")}\n`;

test("a model of several targets says which one its figures are of; a class has the name of its target; the head is short", limit, async () => {
  const path = join(folder, "uneven.mlg");
  const trained = spawnSync(command, ["train", file("uneven.csv", uneven), "--quick", "--target", "toxic,logP", "-o", path], { encoding: "utf8" });
  assert.equal(trained.status, 0, trained.stderr);
  const page = await open("", { at: await serve(path) });
  await page.locator("#score b").waitFor();
  assert.match(await page.locator("#score").innerText(), /^AUC \d\.\d\d\s+toxic: says the model file · [^·]+ · [^·]+$/);
  await page.evaluate(async () => (await import("/app.js")).app.open("3"));
  await page.locator("#detail .says").filter({ hasText: /^toxic [01]/ }).waitFor();
  await page.locator("#further li").filter({ hasText: /^logP\s*−?\d[\d.]* ± [\d.]+ 1\.2 measured$/ }).waitFor();
  await page.locator("#ask-text").fill("CCCCS CCCCO");
  await page.locator("#ask-form button").click();
  await page.locator("#asked li").filter({ hasText: /^toxic [01] · logP −?\d[\d.]* ± [\d.]+.*CCCCO/ }).waitFor();
  await close(page, "endpoint");
  const fresh = await open("", { at: await serve(file("uneven.csv", uneven), "--target", "toxic") });
  await settled(fresh);
  await fresh.locator("#score b").filter({ hasText: "AUC" }).waitFor();
  assert.doesNotMatch(await fresh.locator("#score").innerText(), /enrichment/);
  const box = await fresh.locator("#score").boundingBox();
  assert.ok(box.height < 90, `the head has ${box.height} pixels of figures`);
  await fresh.locator("#score").click();
  await fresh.locator("#predictions .says").filter({ hasText: "enrichment" }).first().waitFor();
  await fresh.evaluate(async () => (await import("/app.js")).app.open("3"));
  await fresh.locator("#further summary").click();
  await fresh.locator("#further label", { hasText: "logP" }).locator("input").check();
  await fresh.locator("#further li").filter({ hasText: /^logP\s*−?\d.* measured$/ }).waitFor();
  await fresh.locator("#ask-text").fill("CCCCS");
  await fresh.locator("#ask-form button").click();
  await fresh.locator("#asked li").filter({ hasText: /· logP −?\d/ }).waitFor();
  await close(fresh, "uneven");
});

test("of a table with several structures the page says which one it reads", limit, async () => {
  const rows = Array.from({ length: 24 }, (_, i) => `${"C".repeat(i + 3)}O,CC(=O)${"N".repeat(i % 4 + 1)}C,${3 * i}`);
  const text = "of the columns of structures only ligand is read, not solvent";
  const page = await open("", { at: await serve(file("yields.csv", `ligand,solvent,yield\n${rows.join("\n")}\n`)) });
  await page.locator("#remarks summary").filter({ hasText: "1 remark on the data" }).click();
  await page.locator("#remarks p").filter({ hasText: text }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "remarks.png") });
  await page.locator("#own-file").setInputFiles(file("yields.csv", `ligand,solvent,yield\n${rows.join("\n")}\n`));
  await page.locator("#data button").filter({ hasText: "Make a new map" }).click();
  await page.locator("#data .note").filter({ hasText: text }).waitFor();
  await close(page);
});

test("of more rows than are taken an even sample is, and the dialog says so", limit, async () => {
  const page = await open();
  await settled(page);
  const rows = Array.from({ length: 60000 }, (_, i) => `${"C".repeat(1 + (i % 12))}O,${i}`);
  await page.locator("#own-file").setInputFiles(file("long.csv", `smiles,y\n${rows.join("\n")}\n`));
  const dialog = page.locator("#data");
  await dialog.getByText("Make a new map").click();
  await dialog.locator("p").filter({ hasText: "30,000 graphs read as csv, an even sample of the 60,000 in the file" }).waitFor();
  await close(page);
});

test("a molecule that is known is called known", limit, async () => {
  const page = await open();
  await page.locator("#ask-text").fill("CN1C(=O)C(O)N=C(c2ccccc2)c2cc(Cl)ccc21"); // temazepam, in another order of atoms
  await page.locator("#ask-form button").click();
  await page.locator("#detail .note").filter({ hasText: "This molecule is one of those here: temazepam" }).waitFor();
  await page.locator("#detail .note .link").click();
  await page.locator("#detail h2").filter({ hasText: "temazepam" }).waitFor();
  await page.locator("#detail h3").filter({ hasText: "Prediction without this graph" }).waitFor();
  await page.evaluate(async () => (await import("/app.js")).app.open("a0"));
  await page.locator("#detail h3").filter({ hasText: "Prediction without this molecule" }).waitFor();
  await page.locator("#detail").filter({ hasText: /With this molecule in training the learner says \w+/ }).waitFor();
  assert.ok(await page.locator("#detail .facts", { hasText: "new graph" }).count() === 0 || await page.locator("#detail .facts span", { hasText: "new graph" }).isHidden());
  await page.evaluate(async () => (await import("/app.js")).app.map.hover("a0"));
  await page.locator("#tip").filter({ hasText: "known" }).waitFor();
  await close(page, "known");
});

test("of a molecule that is here several times all rows are told, with the range, and that the learner has seen them", limit, async () => {
  const page = await open("", { at: await serve(file("twice.csv", twins)) });
  await settled(page);
  await page.locator("#ask-text").fill("C(C)O");
  await page.locator("#ask-form button").click();
  await page.locator("#detail .note").filter({ hasText: /This molecule is here 3 times: first \(1\), second \(2\), other0 \(0\).*\. y 0 to 2/ }).waitFor();
  await page.locator("#detail").filter({ hasText: "The learner was trained with this molecule, so the prediction may be better than for new ones" }).waitFor();
  await close(page, "twice");
});

test("texts among numbers are named with their lines; what is not measured has an entry in the legend; the dialog says what is compared",
  limit, async () => {
    const page = await open();
    const rows = Array.from({ length: 30 }, (_, i) => `${"C".repeat(i + 1)}O,${i === 4 ? ">10" : i === 9 ? "" : (i * 0.37).toFixed(2)}`);
    const sent = [];
    page.on("request", (r) => r.url().includes("/upload?") && sent.push(r.postDataBuffer()?.length ?? 0));
    await page.locator("#own-file").setInputFiles(file("odd.csv", `smiles,pIC50\n${rows.join("\n")}\n`));
    await page.locator("#data button").filter({ hasText: "Make a new map" }).click();
    await page.locator("#data .skipped").filter({ hasText: "1 value not taken for a number" }).waitFor();
    assert.match(await page.locator("#data .skipped").innerText(), /line 6 pIC50: ">10" is not a number, so it counts as not measured/);
    assert.match(await page.locator("#data legend").innerText(), /Compared: atoms by element, bonds by order\. Compare also:/);
    assert.equal(await page.locator('#data input[name="edge_weight"]').count(), 0);
    await page.locator('#data input[name="atom_hydrogens"]').check();
    await page.locator("#data legend").filter({ hasText: "atoms by element and hydrogens" }).waitFor();
    if (shots) await page.screenshot({ path: join(shots, "odd.png") });
    await page.locator("#data button.primary").filter({ hasText: "Show the map" }).click();
    await page.locator("#legend .unknown").filter({ hasText: /not measured\s2/ }).waitFor();
    assert.equal(sent.length, 3, "a check, another one, and the use of the file");
    assert.ok(sent[1] === 0 && sent[2] === 0, `the file is sent once: ${sent}`);
    await page.locator("#score b").filter({ hasText: /^R² / }).waitFor();
    await page.evaluate(async () => (await import("/app.js")).app.open("4")); // >10
    await page.locator("#detail .says").filter({ hasText: /^pIC50 \d/ }).waitFor();
    await page.locator("#own-file").setInputFiles(file("open.csv", 'smiles,v\nCCO,1\nCCC,"2\nCCN,3\nCCCC,4\n'));
    await page.locator("#data button").filter({ hasText: "Make a new map" }).click();
    await page.locator("#data .error").filter({ hasText: "open.csv:3: a quote opens in this row" }).waitFor();
    await close(page);
  });

// twins has two molecules that no kernel can tell apart, and others.
const twins = `smiles,name,y\n${["CCO,first,1", "OCC,second,2", ...Array.from({ length: 20 }, (_, i) => `${"C".repeat(i % 7 + 2)}${"N".repeat(i % 3)}O,other${i},${i}`)].join("\n")}\n`;

test("points that lie on each other are listed, by mouse and by keyboard, and no name stands beside another mark", limit, async () => {
  const page = await open("#layout=pca", { at: await serve(file("twins.csv", twins)) });
  await until(page, "app.map.x.length === 22");
  await settled(page);
  const [x, y] = await pixel(page, 0);
  await page.mouse.click(x, y);
  await page.locator("#stack").waitFor();
  assert.match(await page.locator("#stack").innerText(), /graphs lie here:[^]*first[^]*second/);
  if (shots) await page.screenshot({ path: join(shots, "stack.png") });
  await page.locator("#stack button").filter({ hasText: "second" }).click();
  await page.locator("#detail h2").filter({ hasText: "second" }).waitFor();
  assert.ok(await page.locator("#stack").isHidden());
  await page.evaluate(async () => (await import("/app.js")).app.map.hover(0));
  await page.keyboard.press("Enter");
  await page.locator("#stack").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.locator("#detail h2").filter({ hasText: "first" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "map");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.locator("#stack").waitFor({ state: "hidden" });
  const written = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const [map, said] = [app.map, []];
    map.marked = [];
    const text = map.text;
    map.text = (name, u, v) => said.push([name, u, v]);
    map.paint();
    map.text = text;
    const at = [...map.x.keys()].map((i) => [map.name(i), ...map.at(i)]);
    return { said, at };
  });
  assert.ok(written.said.length > 2, `${written.said.length} names`);
  for (const [name, u, v] of written.said) {
    const beside = written.at.filter(([, px, py]) => px > u - 12 && px < u + 4 && Math.abs(py - v + 4) < 8).map(([n]) => n);
    assert.deepEqual(beside, [name], "the mark beside a name is its own");
  }
  await close(page);
});

test("on a phone a tap shows structure and result; on a small screen open parameters leave room for the map", limit, async () => {
  const phone = await open("", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await phone.locator("#map").scrollIntoViewIfNeeded();
  const [x, y] = await pixel(phone, 3);
  await phone.touchscreen.tap(x, y);
  for (const part of ["#detail .paper .drawing", "#detail .says"]) {
    await phone.locator(part).waitFor();
    const at = await phone.locator(part).boundingBox();
    assert.ok(at.y >= 0 && at.y + at.height <= 844, `${part} is in view: ${JSON.stringify(at)}`);
  }
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await close(phone, "sheet");
  const small = await open("", { viewport: { width: 1024, height: 700 } });
  await settings(small);
  await small.locator("#kernel-fields .field").first().waitFor();
  const map = await small.locator("#map").boundingBox();
  const head = await small.locator(".bar").boundingBox(); // which is higher where there are more data
  assert.ok(map.height > 250 && map.y - head.height < 390, `the map is in view: ${JSON.stringify(map)}`);
  await close(small, "small");
});

test("an error of learning is said in the head, beside the open graph and among the predictions, and can be tried again", limit, async () => {
  const page = await open();
  let broken = true;
  for (const path of ["evaluate", "predict", "explain"]) {
    await page.route(`**/api/v1/${path}**`, (route) => (broken
      ? route.fulfill({ status: 422, contentType: "application/json", body: '{"error":{"status":422,"message":"the learner has lost its mind","field":""}}' })
      : route.continue()));
  }
  await page.evaluate(async () => (await import("/app.js")).app.open("3"));
  await page.locator("#detail .error").filter({ hasText: "There is none: the learner has lost its mind" }).waitFor();
  await page.evaluate(async () => (await import("/app.js")).app.compute());
  await page.locator("#score.poor").filter({ hasText: "The predictions cannot be tested" }).waitFor();
  await page.locator("#score").click();
  await page.locator("#problem .error").filter({ hasText: "The predictions cannot be tested: the learner has lost its mind" }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "problem.png") });
  broken = false;
  await page.locator("#problem button").click();
  await page.locator("#score b").filter({ hasText: "% right" }).waitFor();
  await page.locator("#problem").waitFor({ state: "detached" });
  await page.locator("#detail .says").waitFor();
  await close(page);
});
