// What is looked at on each page, in the browser: JavaScript, for here alone there is a document. Each function is sent to the page whole, and
// so uses nothing from around it.

/** Faults of what screen readers and keyboards go by. */
export function accessibilityFaults() {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const show = (element) => element.outerHTML.replace(/\s+/g, " ").slice(0, 120);
  const textOf = (ids) =>
    (ids ?? "")
      .split(" ")
      .map((id) => document.getElementById(id)?.textContent?.trim() ?? "")
      .join(" ")
      .trim();
  const nameOf = (element) =>
    element.getAttribute("aria-label")?.trim() ||
    textOf(element.getAttribute("aria-labelledby")) ||
    [...(element.labels ?? [])].map((label) => label.textContent?.trim()).join(" ") ||
    (/^(A|BUTTON|SUMMARY)$/.test(element.tagName) ? (element.textContent?.trim() ?? "") : "");

  if (!document.documentElement.lang) faults.push("no language");
  if (!/\S+ - \S+/.test(document.title)) faults.push(`title: ${document.title}`);
  if (all("main").length !== 1) faults.push(`${all("main").length} main landmarks`);
  if (all("h1").length !== 1) faults.push(`${all("h1").length} first-level headings`);
  let level = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) faults.push(`heading skips a level: ${show(heading)}`);
    level = own;
  }
  for (const element of all("input:not([type=hidden]), select, textarea, button, a[href], summary"))
    if (nameOf(element) === "") faults.push(`no name: ${show(element)}`);
  for (const image of all("img:not([alt]), svg:not([aria-hidden]):not([role=img])"))
    faults.push(`no text: ${show(image)}`);
  for (const element of all("[role=img], [role=region], section, nav, [role=search]"))
    if (nameOf(element) === "") faults.push(`landmark without a name: ${show(element)}`);
  for (const name of ["aria-labelledby", "aria-describedby", "for", "data-copy", "data-said"])
    for (const element of all(`[${name}]`))
      for (const id of element.getAttribute(name).split(" "))
        if (!document.getElementById(id)) faults.push(`${name} of nothing: ${show(element)}`);
  const ids = all("[id]").map(({ id }) => id);
  for (const id of new Set(ids.filter((one, at) => ids.indexOf(one) !== at))) faults.push(`id twice: ${id}`);
  for (const cell of all("th:not([scope])")) faults.push(`header of what: ${show(cell)}`);
  for (const table of all("table")) if (!table.querySelector("caption")) faults.push(`no caption: ${show(table)}`);
  for (const element of all("[tabindex]"))
    if (Number(element.getAttribute("tabindex")) > 0) faults.push(`order forced: ${show(element)}`);
  for (const inner of all("a a, a button, button a, button button, label label")) faults.push(`nested: ${show(inner)}`);
  for (const box of all(".scroll"))
    if (box.scrollWidth > box.clientWidth && box.tabIndex < 0) faults.push(`cannot be scrolled by keys: ${show(box)}`);
  const first = document.querySelector("a[href], button, input:not([type=hidden])");
  if (!first?.matches("a.skip[href='#main']")) faults.push("the first stop is no skip link");
  return faults;
}

/** Texts, and edges of fields, that stand out too little (WCAG 2.2, 1.4.3 and 1.4.11), with their contrast. */
export function contrastFaults() {
  const parse = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const ground = (element) => {
    if (!element) return [255, 255, 255, 1];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const faults = [];
  const seen = (element) => element.checkVisibility() && !element.closest(".hidden, .skip, svg");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent?.trim() || !seen(element)) continue;
    const style = getComputedStyle(element);
    const back = ground(element);
    const found = contrast(over(parse(style.color), back), back);
    const large = Number.parseFloat(style.fontSize) >= 24;
    if (found < (large ? 3 : 4.5))
      faults.push(`${found.toFixed(2)}: ${element.tagName} ${node.textContent.trim().slice(0, 40)}`);
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), select")) {
    const back = ground(field.parentElement);
    const found = contrast(over(parse(getComputedStyle(field).borderTopColor), back), back);
    if (found < 3) faults.push(`${found.toFixed(2)}: edge of ${field.id}`);
  }
  return faults;
}

/** What sticks out to the right of the window. */
export function sideways() {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > width + 1 && !element.closest(".scroll"))
    .map((element) => element.outerHTML.slice(0, 100));
  // Texts for screen readers alone can stick out of a box that scrolls.
  return wide.length > 0 ? wide : [`the page is ${document.documentElement.scrollWidth - width} pixels too wide`];
}

/** Where the keyboard is, and whether that can be seen. */
export function focused() {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const name = element.labels?.[0]?.textContent ?? element.textContent ?? "";
  return { name: name.trim(), visible: style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2 };
}

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
export const clipboardText = () => navigator.clipboard.readText();
export const isStyled = (element) => getComputedStyle(element).borderBottomStyle === "solid";
