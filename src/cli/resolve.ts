// Finds objects by what people type: an id, a name or another identifier.

import { type User, usersApi } from "../api/accounts/users.ts";
import { type Pack, packsApi } from "../api/checks/packs.ts";
import { type Query, queriesApi } from "../api/checks/queries.ts";
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import type { Host } from "../api/hosts/host.ts";
import { labelsApi } from "../api/hosts/labels.ts";
import { hostsApi } from "../api/inventory/hosts.ts";
import { isPathStep } from "../api/paths.ts";
import { type Team, teamsApi } from "../api/settings/teams.ts";
import { ApiCallError, NotInPath } from "../client/errors.ts";
import { nearest } from "../text/nearest.ts";
import { quotedInSelector } from "../text/selector.ts";
import { uuidIn } from "../text/uuid.ts";
import { notFound, usage } from "./errors.ts";

export interface Caller {
  call<E extends AnyEndpoint>(endpoint: E, input: InputOf<E>): Promise<ReplyOf<E>>;
}

const isId = (text: string) => /^[1-9]\d{0,14}$/.test(text);

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotInPath || (error instanceof ApiCallError && error.status === 404)) return null;
    throw error;
  }
}

function requireName(text: string, what: string): void {
  if (text.trim() === "") throw usage(`the name of the ${what} is empty`);
}

export async function resolveHost(caller: Caller, text: string): Promise<Host> {
  requireName(text, "host");
  if (isId(text)) {
    const reply = await orNull(caller.call(hostsApi.get, { params: { id: text }, query: { exclude_software: true } }));
    if (reply) return reply.host;
  }
  const named = await hostIdentified(caller, text);
  if (named) {
    // A UUID comes before all other names. Of several hosts with a hostname the server returns the oldest, and a serial
    // number may be the hostname of another host: a command that deletes or wipes must not choose one of them.
    const uuid = uuidIn(text);
    if (uuid === null || uuidIn(named.uuid) !== uuid) theOnly(await hostsWith(caller, identifiers, text), text);
    return named;
  }
  // Lists find hosts by names that cannot be in a path.
  const others = isPathStep(text) ? hostNames : (["display_name"] as const);
  const shown = theOnly(await hostsWith(caller, others, text), text);
  if (shown) return shown;
  throw notFound(`there is no host ${text}`, "`svc hosts list --query TEXT` searches for it.");
}

async function hostIdentified(caller: Caller, text: string): Promise<Host | undefined> {
  const input = { params: { identifier: text }, query: { exclude_software: true } };
  try {
    return (await orNull(caller.call(hostsApi.byIdentifier, input)))?.host;
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 409) throw usage(error.errors[0]?.reason ?? error.message);
    throw error;
  }
}

const identifiers = ["hostname", "uuid", "hardware_serial"] as const;
const hostNames = [...identifiers, "display_name"] as const;

/** The only host, or undefined if there is none; fails if there are several. */
function theOnly(hosts: readonly Host[], text: string): Host | undefined {
  if (hosts.length > 1)
    throw usage(
      `${hosts.length} hosts are called ${text}: ${hosts.map(({ id }) => id).join(", ")}`,
      `Give the ${otherNames(hosts, text)} of one of them.`,
    );
  return hosts[0];
}

/** What may tell the hosts apart. */
function otherNames(hosts: readonly Host[], text: string): string {
  const isOther = (field: "uuid" | "hardware_serial") =>
    hosts.every((host) => host[field].toLowerCase() !== text.toLowerCase());
  const others = ["id", ...(isOther("uuid") ? ["uuid"] : []), ...(isOther("hardware_serial") ? ["serial number"] : [])];
  return others.length === 1 ? "id" : `${others.slice(0, -1).join(", ")} or ${others.at(-1)}`;
}

/** The hosts for which one of these fields equals the text. */
async function hostsWith(
  caller: Caller,
  fields: readonly (typeof hostNames)[number][],
  text: string,
): Promise<readonly Host[]> {
  const quoted = quotedInSelector(text);
  const where = fields.map((field) => `${field} = ${quoted}`).join(" or ");
  try {
    const { hosts } = await caller.call(hostsApi.list, { query: { where, per_page: "5" } });
    // A server that does not support `where` would return arbitrary hosts.
    return hosts.filter((host) => fields.some((field) => host[field].toLowerCase() === text.toLowerCase()));
  } catch (error) {
    // A caller who may not list hosts cannot find any by these fields.
    if (error instanceof ApiCallError && (error.status === 403 || error.status === 400)) return [];
    throw error;
  }
}

export async function resolveTeam(caller: Caller, text: string): Promise<Team> {
  requireName(text, "team");
  if (isId(text)) {
    const reply = await orNull(caller.call(teamsApi.get, { params: { id: text } }));
    if (reply) return reply.team;
  }
  const { teams } = await caller.call(teamsApi.list, {});
  const match =
    teams.find(({ name }) => name === text) ?? only(teams, ({ name }) => name.toLowerCase() === text.toLowerCase());
  if (match) return match;
  const near = nearest(
    text,
    teams.map(({ name }) => name),
  );
  throw notFound(
    `there is no team ${text}${near ? `; did you mean ${near}?` : ""}`,
    "`svc teams list` shows those that you can see.",
  );
}

/** Finds a label by id or name; an id takes precedence. */
export async function resolveLabel(caller: Caller, text: string): Promise<{ id: number; name: string }> {
  requireName(text, "label");
  const { labels } = await caller.call(labelsApi.summary, {});
  const name = text.normalize("NFC").trim();
  const match =
    (isId(text) ? labels.find(({ id }) => id === Number(text)) : undefined) ??
    labels.find((label) => label.name === name) ??
    only(labels, (label) => label.name.toLowerCase() === name.toLowerCase());
  if (match) return { id: match.id, name: match.name };
  const near = nearest(
    text,
    labels.map((label) => label.name),
  );
  throw notFound(`there is no label ${text}${near ? `; did you mean ${near}?` : ""}`, "`svc labels list` shows them.");
}

/**
 * Finds a query by id, or by name within the scope (a team's queries, or the global ones). An id takes precedence.
 */
export async function resolveQuery(caller: Caller, text: string, teamId?: number): Promise<Query> {
  requireName(text, "query");
  if (isId(text)) {
    const reply = await orNull(caller.call(queriesApi.get, { params: { id: text } }));
    if (reply) return reply.query;
  }
  const name = text.normalize("NFC").trim();
  const scope = teamId === undefined ? {} : { team_id: teamId };
  const { queries } = await caller.call(queriesApi.list, { query: { ...scope, query: name } });
  const match =
    queries.find((query) => query.name === name) ??
    only(queries, (query) => query.name.toLowerCase() === name.toLowerCase());
  if (match) return match;
  throw notFound(
    `there is no query ${text}${teamId === undefined ? "" : " of that team"}`,
    "`svc queries list` shows the global ones, `svc queries list --team TEAM` those of a team. An id finds any of them.",
  );
}

export async function resolvePack(caller: Caller, text: string): Promise<Pack> {
  requireName(text, "pack");
  if (isId(text)) {
    const reply = await orNull(caller.call(packsApi.get, { params: { id: text } }));
    if (reply) return reply.pack;
  }
  const name = text.normalize("NFC").trim();
  const match = (await caller.call(packsApi.list, {})).packs.find((pack) => pack.name === name);
  if (match) return match;
  throw notFound(`there is no pack ${text}`, "`svc packs list` shows them.");
}

export async function resolveUser(caller: Caller, text: string): Promise<User> {
  requireName(text, "user");
  if (text === "me") return (await caller.call(usersApi.me, {})).user;
  if (isId(text)) {
    const reply = await orNull(caller.call(usersApi.get, { params: { id: text } }));
    if (reply) return reply.user;
  }
  const users = await usersLike(caller, text);
  const byEmail = users.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (byEmail) return byEmail;
  const named = users.filter(({ name }) => name === text);
  if (named.length > 1) {
    throw usage(
      `${named.length} users are called ${text}`,
      `Give an email: ${named.map(({ email }) => email).join(", ")}`,
    );
  }
  if (named[0]) return named[0];
  throw notFound(`there is no user ${text}`, "`svc users list` shows them.");
}

/** Users matching the text. A caller who may not list users still finds its own user. */
async function usersLike(caller: Caller, text: string): Promise<readonly User[]> {
  try {
    return (await caller.call(usersApi.list, { query: { query: text } })).users;
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 403) throw error;
    const { user } = await caller.call(usersApi.me, {});
    if (user.email !== text.toLowerCase()) throw error;
    return [user];
  }
}

function only<T>(rows: readonly T[], test: (row: T) => boolean): T | undefined {
  const matches = rows.filter(test);
  return matches.length === 1 ? matches[0] : undefined;
}
