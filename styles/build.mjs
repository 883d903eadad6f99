// Builds service/static/spillclock.css: the parts of the U.S. Web Design System that our pages name, then our own rules. README.md says how.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import postcss from "postcss";
import * as sass from "sass";
import { COLOURS } from "./colours.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(HERE);
const SERVICE = join(ROOT, "service");
const STATIC = join(SERVICE, "static");
const SYSTEM = join(HERE, "node_modules", "@uswds", "uswds");
const OWN = join(STATIC, "css");
// With --whole the names that no page writes yet are kept too, but for parts that need the system's own script.
const SCRIPTED = /^usa-(accordion__btn|combo|current|dark|date|embed|graph|in-page|input-mask|js|megamenu|memorable|modal|nav|overlay|pagination|range|search|sidenav|table__header|time-p|tooltip)/;
const WHOLE = process.argv.includes("--whole");
// Two weights are enough for a calm page, and keep the first visit light.
const FONTS = ["regular", "bold"].map((weight) => `source-sans-pro/sourcesanspro-${weight}-webfont.woff2`);

const found = (folder, ending) =>
  readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(ending)).sort().map((name) => join(folder, name));
const read = (path) => readFileSync(path, "utf8");

// What the result depends on, apart from the pinned packages: tests/house/test_styles.py computes the same digest without node.
const SOURCES = [
  ...["build.mjs", "colours.mjs", "package-lock.json", "package.json", "spillclock.scss"].map((name) => join(HERE, name)),
  ...found(OWN, ".css"),
];

function digest(paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(`${relative(ROOT, path).replaceAll("\\", "/")}\n`).update(readFileSync(path)).update("\n");
  return hash.digest("hex");
}

// The names of the system that a template, a script or a rule of ours writes.
function namesInUse() {
  const pages = [...found(join(SERVICE, "templates"), ".html"), ...found(join(SERVICE, "pages"), ".py"), ...found(STATIC, ".js"), ...found(OWN, ".css")];
  return new Set(pages.flatMap((path) => read(path).match(/\busa-[a-z0-9_-]+/g) ?? []));
}

// Rules whose names no page writes are left out. A page that writes usa-alert--{{ kind }} may write any name that begins so.
function keepOnlyUsed(tree, names) {
  const beginnings = [...names].filter((name) => name.endsWith("-"));
  const isWritten = (name) => names.has(name) || beginnings.some((one) => name.startsWith(one)) || (WHOLE && !SCRIPTED.test(name));
  const isUsed = (selector) => (selector.match(/\.usa-[A-Za-z0-9_-]+/g) ?? []).every((name) => isWritten(name.slice(1)));
  tree.walkRules((rule) => {
    if (rule.parent.type === "atrule" && rule.parent.name.endsWith("keyframes")) return;
    const kept = rule.selectors.filter(isUsed);
    if (kept.length === 0) rule.remove();
    else rule.selectors = kept;
  });
  tree.walkAtRules("font-face", (rule) => rule.remove()); // ours are in fonts.css
  let emptied = true;
  while (emptied) {
    emptied = false;
    tree.walkAtRules((rule) => {
      if (rule.nodes && rule.nodes.length === 0) {
        rule.remove();
        emptied = true;
      }
    });
  }
}

const COLOUR = /#[0-9a-f]{3,8}\b|rgba?\([^)]*\)|\b(?:white|black)\b/gi;
const SPELLED = { white: "#fff", black: "#000", "#ffffff": "#fff", "#000000": "#000" };

// What a declaration colours. An area seen through a mask is a sign, not a ground.
function role(declaration) {
  const { prop, parent } = declaration;
  if (/^(color|fill|stroke|text-decoration|-webkit-text-fill-color)/.test(prop)) return "text";
  if (prop.startsWith("background")) return parent.some((one) => one.prop?.endsWith("mask-image") || one.prop?.endsWith("mask")) ? "text" : "ground";
  return "line";
}

function nameColours(tree) {
  const missing = new Set();
  tree.walkDecls((declaration) => {
    if (declaration.prop.includes("image") || /url\(/.test(declaration.value)) return;
    const part = role(declaration);
    declaration.value = declaration.value.replace(COLOUR, (written) => {
      const colour = SPELLED[written.toLowerCase()] ?? written.toLowerCase().replaceAll(" ", "");
      if (/^rgba\(\d+,\d+,\d+,0\)$/.test(colour)) return "transparent";
      const [name] = Object.entries(COLOURS[part]).find(([, [light]]) => light === colour) ?? [];
      if (!name) missing.add(`${part} ${colour}`);
      return `var(--${part}-${name})`;
    });
  });
  if (missing.size) throw new Error(`no line in colours.mjs for: ${[...missing].sort().join("; ")}`);
}

// The variables that a rule of the system or of ours reads, light and dark.
function paletteCss(rules) {
  const read = new Set(rules.match(/--(?:text|ground|line)-[a-z0-9-]+/g));
  const all = Object.entries(COLOURS).flatMap(([part, names]) => Object.entries(names).map(([name, both]) => [`--${part}-${name}`, ...both]));
  const rows = all.filter(([name]) => read.has(name));
  const light = rows.map(([name, value]) => `${name}:${value}`).join(";");
  const dark = rows.filter(([, value, night]) => value !== night).map(([name, , night]) => `${name}:${night}`).join(";");
  return `:root{${light}}@media screen and (prefers-color-scheme:dark){:root{${dark}}}`;
}

function copyAssets(css) {
  for (const folder of ["img", "fonts"]) {
    rmSync(join(STATIC, folder), { recursive: true, force: true });
    mkdirSync(join(STATIC, folder), { recursive: true });
  }
  for (const font of FONTS) copyFileSync(join(SYSTEM, "dist", "fonts", font), join(STATIC, "fonts", font.split("/").at(-1)));
  for (const [, name] of css.matchAll(/url\("?img\/([^")]+)"?\)/g)) {
    mkdirSync(dirname(join(STATIC, "img", name)), { recursive: true });
    // The dark twin of a dark sign, which the system does not ship for every one of them.
    if (name.endsWith("--light.svg")) {
      const sign = read(join(SYSTEM, "dist", "img", name.replace("--light.svg", ".svg")));
      writeFileSync(join(STATIC, "img", name), sign.replace("<path ", '<path fill="#f0f0f0" '));
    } else copyFileSync(join(SYSTEM, "dist", "img", name), join(STATIC, "img", name));
  }
  copyFileSync(join(SYSTEM, "LICENSE.md"), join(STATIC, "USWDS-LICENSE.md"));
  copyFileSync(join(HERE, "OFL.txt"), join(STATIC, "fonts", "OFL.txt"));
}

const small = (css) => sass.compileString(css, { syntax: "css", style: "compressed" }).css;

const options = { loadPaths: [join(SYSTEM, "packages")], style: "compressed", quietDeps: true };
const tree = postcss.parse(sass.compile(join(HERE, "spillclock.scss"), options).css.replace(/^\uFEFF/, "").replace(/@charset[^;]+;/, ""));
keepOnlyUsed(tree, namesInUse());
nameColours(tree);
const own = found(OWN, ".css").map(read).join("\n");
const apart = readdirSync(STATIC).filter((name) => name.endsWith(".css") && name !== "spillclock.css").map((name) => read(join(STATIC, name))).join("");
const css = small(`${paletteCss(tree.toString() + own + apart)}\n${tree.toString()}\n${own}`);
copyAssets(css);
const head = `/*! Built by make styles from styles/ and service/static/css/. U.S. Web Design System 3.14.0: USWDS-LICENSE.md. sources: ${digest(SOURCES)} */\n`;
writeFileSync(join(STATIC, "spillclock.css"), head + css.replace(/^\uFEFF/, "").replace(/^@charset "UTF-8";/, "") + "\n");
process.stdout.write(`service/static/spillclock.css: ${Math.round((head.length + css.length) / 1000)} kB\n`);
