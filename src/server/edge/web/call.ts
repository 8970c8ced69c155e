// Pages read and change data through the API's own routes, so the same permissions apply to them.

import type { AnyEndpoint, InputOf, ReplyOf } from "../../../api/endpoint.ts";
import type { Context } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { RawInput, Reply, Route } from "../../platform/core/http/route.ts";
import { memo } from "../../platform/core/memo.ts";

export const apiRoutes = extensionPoint<Route>("routes of the API");

const byEndpoint = memo(
  (routes: readonly Route[]): ReadonlyMap<AnyEndpoint, Route> =>
    new Map(routes.map((route) => [route.endpoint, route])),
);

function routeOf({ extensions }: Context, endpoint: AnyEndpoint): Route {
  const route = byEndpoint(extensions.of(apiRoutes)).get(endpoint);
  if (!route) throw new Error(`no route for ${endpoint.method} ${endpoint.path}`);
  return route;
}

/** The API's reply to this caller. Throws the API's errors. */
export async function call<E extends AnyEndpoint>(
  ctx: Context,
  endpoint: E,
  input: InputOf<E> = {},
): Promise<ReplyOf<E>> {
  return (await callWhole(ctx, endpoint, input)).value;
}

/** Calls an endpoint; returns the reply with its status and headers. */
export async function callWhole<E extends AnyEndpoint>(
  ctx: Context,
  endpoint: E,
  input: InputOf<E> = {},
): Promise<{ value: ReplyOf<E>; reply: Reply }> {
  const reply: Reply = { status: endpoint.status, headers: {} };
  const raw: RawInput = {
    params: asTexts(input.params),
    query: asTexts(input.query),
    body: async () => input.body,
  };
  const value = (await routeOf(ctx, endpoint).run(raw, ctx, reply)) as ReplyOf<E>;
  return { value, reply };
}

/** Values as they would appear in a URL. Undefined and null are left out. */
const asTexts = (values: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries((values ?? {}) as Record<string, unknown>).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  );
