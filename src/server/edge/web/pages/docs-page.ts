// The OpenAPI document as a single HTML page without scripts.
import { type Html, html } from "../html.ts";

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  deprecated?: boolean;
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema?: Schema }> }>;
  "x-tier": string;
  "x-stability": string;
  "x-access": string | { action: string; global: string; team: string };
}
interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  description?: string;
  $ref?: string;
}
interface Document {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
}

export function docsPage(document: Document): { html: string; css: string } {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path: `/api/v1${path}`,
      method: method.toUpperCase(),
      operation,
    })),
  );
  const groups = [...new Set(operations.flatMap(({ operation }) => operation.tags))].sort();
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} API ${document.info.version}</title>
<link rel="stylesheet" href="/api/docs/style.css">
</head>
<body>
<header><h1>${document.info.title} API <small>${document.info.version}</small></h1>
<p>${document.info.description} The document for machines: <a href="/api/v1/svc/openapi.json">openapi.json</a>.</p></header>
<nav aria-label="Groups"><ul>${groups.map((group) => html`<li><a href="#${group}">${group}</a></li>`)}</ul></nav>
<main>${groups.map(
    (group) =>
      html`<section id="${group}"><h2>${group}</h2>${operations
        .filter(({ operation }) => operation.tags.includes(group))
        .map(operationView)}</section>`,
  )}</main>
</body>
</html>`;
  return { html: page.text, css };
}

function operationView({ path, method, operation }: { path: string; method: string; operation: Operation }): Html {
  const access = operation["x-access"];
  return html`<details id="${operation.operationId}">
<summary><b class="${method.toLowerCase()}">${method}</b> <code>${path}</code> <span>${operation.summary}</span></summary>
<p>${typeof access === "string" ? access : html`Needs <code>${access.action}</code>. Global roles: ${access.global}. ${access.team && `Team roles: ${access.team}.`}`}
${operation["x-tier"] === "premium" && " Premium."} ${operation["x-stability"] !== "stable" && ` ${operation["x-stability"]}.`}</p>
${
  operation.parameters.length > 0 &&
  html`<h3>Parameters</h3><table><tbody>${operation.parameters.map(
    (parameter) =>
      html`<tr><td><code>${parameter.name}</code></td><td>${parameter.in}</td><td>${kind(parameter.schema)}${parameter.required && ", required"}</td><td>${parameter.description}</td></tr>`,
  )}</tbody></table>`
}
${operation.requestBody && html`<h3>Body</h3>${bodyView(operation.requestBody.content)}`}
${Object.entries(operation.responses).map(
  ([status, response]) =>
    html`<h3>${status} <small>${response.description}</small></h3>${status.startsWith("2") && Object.entries(response.content ?? {}).map(([type, { schema }]) => (schema ? schemaView(schema) : html`<p>${type}</p>`))}`,
)}
</details>`;
}

/** Forms have the same fields as the JSON beside them. */
function bodyView(content: Record<string, { schema?: Schema }>): Html {
  const [type, { schema } = {}] = Object.entries(content)[0]!;
  return html`${type !== "application/json" && html`<p>${type}</p>`}${schema && schemaView(schema)}`;
}

function schemaView(schema: Schema, depth = 0): Html {
  const object = schema.properties ? schema : schema.items?.properties ? schema.items : null;
  if (!object?.properties || depth > 4) return html`<p><code>${kind(schema)}</code></p>`;
  return html`<table><tbody>${Object.entries(object.properties).map(
    ([
      name,
      field,
    ]) => html`<tr><td><code>${name}</code></td><td>${kind(field)}${object.required?.includes(name) && ", required"}</td>
<td>${field.description}${(field.properties ?? field.items?.properties) && schemaView(field, depth + 1)}</td></tr>`,
  )}</tbody></table>`;
}

function kind(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split("/").at(-1)!;
  if (schema.enum) return schema.enum.map(String).join(" | ");
  if (schema.anyOf) return schema.anyOf.map(kind).join(" | ");
  if (schema.items) return `array of ${kind(schema.items)}`;
  return [schema.type ?? "any"].flat().join(" | ");
}

const css = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem 1.5rem 4rem; }
small { font-weight: normal; opacity: .7; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; padding: .4rem .8rem; overflow-x: auto; }
details[open] { background: var(--soft); }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; }
summary span { opacity: .75; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .2rem .6rem .2rem 0; vertical-align: top; }
h3 { margin: .8rem 0 .2rem; font-size: 1rem; }
`;
