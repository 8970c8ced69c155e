// From what people type to the object: ids, names, whatever identifies it.
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import type { Host } from "../api/host.ts";
import { hostsApi } from "../api/hosts.ts";
import { labelsApi } from "../api/labels.ts";
import { type Pack, packsApi } from "../api/packs.ts";
import { type Query, queriesApi } from "../api/queries.ts";
import { type Team, teamsApi } from "../api/teams.ts";
import { type User, usersApi } from "../api/users.ts";
import { ApiCallError } from "../client/errors.ts";
import { notFound, usage } from "./errors.ts";
import { nearest } from "./suggest.ts";

export interface Caller {
  call<E extends AnyEndpoint>(endpoint: E, input: InputOf<E>): Promise<ReplyOf<E>>;
}

const isId = (text: string) => /^[1-9]\d{0,14}$/.test(text);

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 404) return null;
    throw error;
  }
}

export async function resolveHost(caller: Caller, text: string): Promise<Host> {
  if (isId(text)) {
    const found = await orNull(caller.call(hostsApi.get, { params: { id: text }, query: { exclude_software: true } }));
    if (found) return found.host;
  }
  const byName = await orNull(
    caller.call(hostsApi.byIdentifier, { params: { identifier: text }, query: { exclude_software: true } }),
  );
  if (byName) {
    // The server gives the first of several: whom a command deletes or wipes must not be a matter of age.
    theOnly(await hostsWith(caller, ["hostname", "uuid", "hardware_serial"], text), text);
    return byName.host;
  }
  const shown = theOnly(await hostsWith(caller, ["display_name"], text), text);
  if (shown) return shown;
  throw notFound(`there is no host ${text}`, "`svc hosts list --query TEXT` searches for it.");
}

/** The one host, if any; an error where there are more. */
function theOnly(hosts: readonly Host[], text: string): Host | undefined {
  if (hosts.length > 1)
    throw usage(
      `${hosts.length} hosts are called ${text}: ${hosts.map(({ id }) => id).join(", ")}`,
      "Give the id, the uuid or the serial number.",
    );
  return hosts[0];
}

/** The hosts of which one of these is the text. */
async function hostsWith(
  caller: Caller,
  fields: readonly ("hostname" | "uuid" | "hardware_serial" | "display_name")[],
  text: string,
): Promise<readonly Host[]> {
  const quoted = `"${text.replace(/["\\]/g, "\\$&")}"`;
  const where = fields.map((field) => `${field} = ${quoted}`).join(" or ");
  try {
    const { hosts } = await caller.call(hostsApi.list, { query: { where, per_page: "5" } });
    // A server that does not know the parameter would give any hosts.
    return hosts.filter((host) => fields.some((field) => host[field] === text));
  } catch (error) {
    // Whoever may not list hosts knows none by what lists show.
    if (error instanceof ApiCallError && (error.status === 403 || error.status === 400)) return [];
    throw error;
  }
}

export async function resolveTeam(caller: Caller, text: string): Promise<Team> {
  if (isId(text)) {
    const found = await orNull(caller.call(teamsApi.get, { params: { id: text } }));
    if (found) return found.team;
  }
  const { teams } = await caller.call(teamsApi.list, {});
  const found =
    teams.find(({ name }) => name === text) ?? only(teams, ({ name }) => name.toLowerCase() === text.toLowerCase());
  if (found) return found;
  const near = nearest(
    text,
    teams.map(({ name }) => name),
  );
  throw notFound(
    `there is no team ${text}${near ? `; did you mean ${near}?` : ""}`,
    "`svc teams list` shows those that you can see.",
  );
}

/** By id or name; an id wins. */
export async function resolveLabel(caller: Caller, text: string): Promise<{ id: number; name: string }> {
  const { labels } = await caller.call(labelsApi.summary, {});
  const name = text.normalize("NFC").trim();
  const found =
    (isId(text) ? labels.find(({ id }) => id === Number(text)) : undefined) ??
    labels.find((label) => label.name === name) ??
    only(labels, (label) => label.name.toLowerCase() === name.toLowerCase());
  if (found) return { id: found.id, name: found.name };
  const near = nearest(
    text,
    labels.map((label) => label.name),
  );
  throw notFound(`there is no label ${text}${near ? `; did you mean ${near}?` : ""}`, "`svc labels list` shows them.");
}

/** By id, or by name within the scope: a team's queries, or the global ones. An id wins. */
export async function resolveQuery(caller: Caller, text: string, teamId?: number): Promise<Query> {
  if (isId(text)) {
    const found = await orNull(caller.call(queriesApi.get, { params: { id: text } }));
    if (found) return found.query;
  }
  const name = text.normalize("NFC").trim();
  const scope = teamId === undefined ? {} : { team_id: teamId };
  const { queries } = await caller.call(queriesApi.list, { query: { ...scope, query: name } });
  const found =
    queries.find((query) => query.name === name) ??
    only(queries, (query) => query.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw notFound(
    `there is no query ${text}${teamId === undefined ? "" : " of that team"}`,
    "`svc queries list` shows the global ones, with --team a team's: by its id each is found.",
  );
}

export async function resolvePack(caller: Caller, text: string): Promise<Pack> {
  if (isId(text)) {
    const found = await orNull(caller.call(packsApi.get, { params: { id: text } }));
    if (found) return found.pack;
  }
  const name = text.normalize("NFC").trim();
  const found = (await caller.call(packsApi.list, {})).packs.find((pack) => pack.name === name);
  if (found) return found;
  throw notFound(`there is no pack ${text}`, "`svc packs list` shows them.");
}

export async function resolveUser(caller: Caller, text: string): Promise<User> {
  if (text === "me") return (await caller.call(usersApi.me, {})).user;
  if (isId(text)) {
    const found = await orNull(caller.call(usersApi.get, { params: { id: text } }));
    if (found) return found.user;
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

/** Whoever may not see users still finds itself. */
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
  const found = rows.filter(test);
  return found.length === 1 ? found[0] : undefined;
}
