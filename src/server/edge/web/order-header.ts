import { type Html, html } from "./html.ts";
import { link } from "./parts.ts";

/** The header of a column by which the list can be sorted, if it has an order. */
export function orderHeader(
  path: string,
  params: URLSearchParams,
  { header: text, order, number }: { readonly header: string; readonly order?: string; readonly number?: boolean },
): Html {
  if (order === undefined) return html`<th scope="col">${text}</th>`;
  const current = params.get("order_key") === order;
  const down = current && params.get("order_direction") === "desc";
  const next = link(path, params, { order_key: order, order_direction: current && !down ? "desc" : "asc", page: null });
  return html`<th scope="col"${number && html` class="number"`}${current && html` aria-sort="${down ? "descending" : "ascending"}"`}><a href="${next}">${text}${current && html` <span aria-hidden="true">${down ? "↓" : "↑"}</span>`}</a></th>`;
}
