import {
  isScimText,
  NOT_SCIM_TEXT,
  type ScimGroup,
  type ScimGroupInput,
  type ScimPatch,
} from "../../../api/hosts/scim.ts";
import { isRecord } from "../../../text/record.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { bytesOf, JsonStream } from "../../platform/core/http/text-stream.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, type Predicate } from "../../platform/store/query.ts";
import { notUnique, scimError } from "./errors.ts";
import { type Condition, parseFilter } from "./filter.ts";
import { addMembers, announceAll, idsOf, type Member, membersOf, removeMembers, setMembers } from "./members.ts";
import { changesOf, type Path, type Verb } from "./patch.ts";
import { scimMembers } from "./tables.ts";
import { SCIM_LOCK_OPTIONS } from "./users.ts";
import { type GroupRow, groupIdOf, groupView, type ListQuery, placeOf, rowsOf, userIdOf } from "./wire.ts";

/** Replies to changes show the members of groups that have no more than these. */
const SHOWN_MAX = 1_000;

interface ShownAttributes {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
}

function showsMembers({ attributes, excludedAttributes = "" }: ShownAttributes): boolean {
  if (/(^|,)\s*members\s*(,|$)/i.test(excludedAttributes)) return false;
  return attributes === undefined || attributes.trim() === "" || /(^|[,:\s])members\b/i.test(attributes);
}

const conditions: Readonly<Record<string, (condition: Condition) => Predicate>> = {
  displayname: ({ value }) => eq("display_name_key", value.toLowerCase()),
  externalid: ({ value }) => eq("external_id", value),
  id: ({ value }) => eq("id", groupIdOf(value) ?? 0),
  members: ({ value }) => exists(scimMembers, "group_id", eq("user_id", userIdOf(value) ?? 0)),
  "members.value": ({ value }) => exists(scimMembers, "group_id", eq("user_id", userIdOf(value) ?? 0)),
};

function filterOf(text: string | undefined): Predicate {
  if (text === undefined || text.trim() === "") return and();
  return and(
    ...parseFilter(text).map((parsed) => {
      const condition = Object.hasOwn(conditions, parsed.attribute) ? conditions[parsed.attribute] : undefined;
      if (!condition || parsed.of) throw scimError("invalidFilter", `groups cannot be filtered by ${parsed.attribute}`);
      return condition(parsed);
    }),
  );
}

/** The members are read while the list is sent. */
export async function listGroups(ctx: Context, query: ListQuery & ShownAttributes): Promise<JsonStream> {
  const { rows, head } = await rowsOf(ctx.store.scimGroups, query, filterOf(query.filter));
  const place = await placeOf(ctx);
  const withMembers = showsMembers(query);
  async function* text(): AsyncGenerator<string> {
    yield `${JSON.stringify(head).slice(0, -1)},"Resources":[`;
    for (const [at, row] of rows.entries()) {
      if (at > 0) yield ",";
      yield* groupText(ctx, row, place, withMembers);
    }
    yield "]}";
  }
  return new JsonStream(bytesOf(ctx, text(), "the list of groups"));
}

async function* groupText(ctx: Context, row: GroupRow, place: string, withMembers: boolean): AsyncGenerator<string> {
  const view = JSON.stringify(groupView(row, place));
  if (!withMembers) {
    yield view;
    return;
  }
  yield `${view.slice(0, -1)},"members":[`;
  let first = true;
  for await (const page of membersOf(ctx.store, row.id, place)) {
    if (page.length === 0) continue;
    yield `${first ? "" : ","}${JSON.stringify(page).slice(1, -1)}`;
    first = false;
  }
  yield "]}";
}

async function rowOf(store: Pick<ServerTx, "scimGroups">, id: string): Promise<GroupRow> {
  const number = groupIdOf(id);
  const row = number === null ? null : await store.scimGroups.get(number);
  if (!row) throw notFound("group", id);
  return row;
}

export async function getGroup(ctx: Context, id: string, shown: ShownAttributes): Promise<JsonStream> {
  const row = await rowOf(ctx.store, id);
  return new JsonStream(bytesOf(ctx, groupText(ctx, row, await placeOf(ctx), showsMembers(shown)), "the group"));
}

/** The reply to a change, within its transaction. */
async function viewOf(inside: Context, row: GroupRow): Promise<ScimGroup> {
  const place = await placeOf(inside);
  const view = groupView(row, place);
  if ((await inside.store.scimMembers.count(eq("group_id", row.id))) > SHOWN_MAX) return view;
  const members: Member[] = [];
  for await (const page of membersOf(inside.store, row.id, place)) members.push(...page);
  return { ...view, members };
}

interface Columns {
  readonly external_id: string | null;
  readonly display_name: string;
}

async function checkUnique(store: ServerTx, { display_name: name }: Columns, groupId = 0): Promise<void> {
  const other = await store.scimGroups.first({ where: eq("display_name_key", name.toLowerCase()) });
  if (other && other.id !== groupId) throw notUnique(`a group with the displayName ${JSON.stringify(name)} exists`);
}

const about = ({ id, display_name }: Pick<GroupRow, "id" | "display_name">) => ({
  scim_group_id: id,
  display_name,
});

export async function createGroup(ctx: Context, input: ScimGroupInput): Promise<ScimGroup> {
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const columns = { external_id: input.externalId ?? null, display_name: input.displayName };
    await checkUnique(store, columns);
    const now = ctx.clock.iso();
    const row = await store.scimGroups.insert({
      ...columns,
      display_name_key: columns.display_name.toLowerCase(),
      created_at: now,
      updated_at: now,
    });
    await addMembers(store, row.id, idsOf(input.members ?? []));
    await recordActivity(inside, "created_scim_group", about(row));
    return viewOf(inside, row);
  }, SCIM_LOCK_OPTIONS);
}

export const replaceGroup = (ctx: Context, id: string, input: ScimGroupInput): Promise<ScimGroup> =>
  change(ctx, id, async (store, before) => {
    const columns = { external_id: input.externalId ?? null, display_name: input.displayName };
    return { columns, moved: await setMembers(store, before.id, idsOf(input.members ?? [])) };
  });

export const patchGroup = (ctx: Context, id: string, { Operations }: ScimPatch): Promise<ScimGroup> =>
  change(ctx, id, async (store, before) => {
    const columns = { external_id: before.external_id, display_name: before.display_name };
    let moved = false;
    for (const operation of Operations)
      for (const { verb, path, value } of changesOf(operation)) {
        if (path.attribute === "members") {
          if (await patchMembers(store, before.id, verb, path, value)) moved = true;
        } else if (path.attribute === "displayname") {
          if (verb === "remove" || typeof value !== "string" || value.trim() === "" || value.length > 255)
            throw scimError("invalidValue", "displayName must be a text of 1 to 255 characters");
          if (!isScimText(value.trim())) throw scimError("invalidValue", `displayName ${NOT_SCIM_TEXT}`);
          columns.display_name = value.trim();
        } else if (path.attribute === "externalid") {
          if (verb !== "remove" && value !== null && (typeof value !== "string" || value.length > 255))
            throw scimError("invalidValue", "externalId must be a text of at most 255 characters");
          if (typeof value === "string" && !isScimText(value))
            throw scimError("invalidValue", `externalId ${NOT_SCIM_TEXT}`);
          columns.external_id = verb === "remove" ? null : ((value as string | null) ?? null);
        }
      }
    return { columns, moved };
  });

/** References in a value: a list, one object, or an id. */
function referencesIn(value: unknown): { value: string; type?: string }[] {
  const all = Array.isArray(value) ? value : [value];
  return all.map((reference) => {
    if (typeof reference === "string") return { value: reference };
    if (!isRecord(reference) || typeof reference.value !== "string")
      throw scimError("invalidValue", "a member must be an object with the id of a user as its value");
    return { value: reference.value, ...(typeof reference.type === "string" ? { type: reference.type } : {}) };
  });
}

async function patchMembers(
  store: ServerTx,
  groupId: number,
  verb: Verb,
  { filter, sub }: Path,
  value: unknown,
): Promise<boolean> {
  const isEmpty = value === undefined || value === null;
  if (filter !== null) {
    // members[value eq "7"]
    const [condition, ...more] = filter;
    if (verb !== "remove" || sub !== null || condition?.attribute !== "value" || more.length > 0)
      throw scimError("invalidPath", 'members can be removed by members[value eq "id"]; nothing else has a filter');
    const id = userIdOf(condition.value);
    return id !== null && removeMembers(store, groupId, [id]);
  }
  if (sub !== null) throw scimError("invalidPath", "the attributes of members cannot be changed");
  switch (verb) {
    case "add":
      return addMembers(store, groupId, isEmpty ? [] : idsOf(referencesIn(value)));
    case "replace":
      return setMembers(store, groupId, isEmpty ? [] : idsOf(referencesIn(value)));
    case "remove":
      return isEmpty ? setMembers(store, groupId, []) : removeMembers(store, groupId, idsOf(referencesIn(value)));
  }
}

async function change(
  ctx: Context,
  id: string,
  work: (store: ServerTx, before: GroupRow) => Promise<{ columns: Columns; moved: boolean }>,
): Promise<ScimGroup> {
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const before = await rowOf(store, id);
    const { columns, moved } = await work(store, before);
    await checkUnique(store, columns, before.id);
    // From now on this group is the identity provider's.
    if (before.directory_id !== null)
      await store.scimGroups.update({ where: eq("id", before.id), set: { directory_id: null } });
    const renamed = columns.display_name !== before.display_name;
    if (!moved && !renamed && columns.external_id === before.external_id) return viewOf(inside, before);
    const set = {
      ...columns,
      display_name_key: columns.display_name.toLowerCase(),
      updated_at: ctx.clock.iso(),
    };
    await store.scimGroups.update({ where: eq("id", before.id), set });
    if (renamed) await announceAll(store);
    const row = { ...before, ...set };
    await recordActivity(inside, "edited_scim_group", about(row));
    return viewOf(inside, row);
  }, SCIM_LOCK_OPTIONS);
}

export async function deleteGroup(ctx: Context, id: string): Promise<Record<string, never>> {
  return ctx.store.tx(async (store) => {
    const row = await rowOf(store, id);
    await store.scimGroups.delete(eq("id", row.id));
    await announceAll(store);
    await recordActivity(within(ctx, store), "deleted_scim_group", about(row));
    return {};
  }, SCIM_LOCK_OPTIONS);
}
