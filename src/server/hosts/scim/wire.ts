// Resources as identity providers see them.
import { type ScimGroup, type ScimUser, scimUrns } from "../../../api/hosts/scim.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import type { Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { groupsOfUsers } from "./people.ts";
import type { scimGroups, scimUsers } from "./tables.ts";

export type UserRow = RowOf<typeof scimUsers>;
export type GroupRow = RowOf<typeof scimGroups>;

const PATH = "/api/v1/svc/scim";

/** The address of the resources: the server's own. */
export async function placeOf({ config, store }: Pick<Context, "config" | "store">): Promise<string> {
  const { server_url } = (await config.over(store).current()).server_settings;
  return `${server_url.replace(/\/+$/, "")}${PATH}`;
}

export const userLocation = (place: string, id: number): string => `${place}/Users/${id}`;
const groupId = (id: number): string => `group-${id}`;
const groupLocation = (place: string, id: number): string => `${place}/Groups/${groupId(id)}`;

/** The id in a path or reference; null if it cannot be one. */
const numberOf = (text: string): number | null => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : null);
export const userIdOf = (text: string): number | null => numberOf(text);
export const groupIdOf = (text: string): number | null => numberOf(text.replace(/^group-/, ""));

export async function userViews(ctx: Context, rows: readonly UserRow[]): Promise<ScimUser[]> {
  const groups = await groupsOfUsers(
    ctx.store,
    rows.map(({ id }) => id),
  );
  const place = await placeOf(ctx);
  return rows.map((row) => ({
    schemas: [scimUrns.user, ...(row.department === "" ? [] : [scimUrns.enterprise])],
    id: String(row.id),
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    userName: row.user_name,
    name: {
      ...(row.formatted_name === "" ? {} : { formatted: row.formatted_name }),
      ...(row.given_name === "" ? {} : { givenName: row.given_name }),
      ...(row.family_name === "" ? {} : { familyName: row.family_name }),
    },
    ...(row.display_name === "" ? {} : { displayName: row.display_name }),
    active: row.active,
    emails: row.emails.map((email) => ({ ...email })),
    groups: (groups.get(row.id) ?? []).map(({ id, display_name }) => ({
      value: groupId(id),
      display: display_name,
      $ref: groupLocation(place, id),
    })),
    ...(row.department === "" ? {} : { [scimUrns.enterprise]: { department: row.department } }),
    meta: metaOf("User", row, userLocation(place, row.id)),
  }));
}

export const groupView = (row: GroupRow, place: string): ScimGroup => ({
  schemas: [scimUrns.group],
  id: groupId(row.id),
  ...(row.external_id === null ? {} : { externalId: row.external_id }),
  displayName: row.display_name,
  meta: metaOf("Group", row, groupLocation(place, row.id)),
});

const metaOf = (
  resourceType: string,
  row: { readonly created_at: string; readonly updated_at: string },
  location: string,
) => ({ resourceType, created: row.created_at, lastModified: row.updated_at, location });

const COUNT_MAX = 100;

/** The rows of a page (RFC 7644, section 3.4.2.4): values that are too small or too large are corrected. */
function windowOf(query: { readonly startIndex: number; readonly count: number }) {
  const startIndex = Math.max(1, query.startIndex);
  return { startIndex, limit: Math.min(Math.max(0, query.count), COUNT_MAX), offset: startIndex - 1 };
}

export interface ListQuery {
  readonly startIndex: number;
  readonly count: number;
  readonly filter?: string | undefined;
}

/** The row of that page, in the order in which they were created. */
export async function rowsOf<R>(
  collection: {
    count(where?: Predicate): Promise<number>;
    list(select: {
      where: Predicate;
      order: { column: string; direction: "asc" }[];
      limit: number;
      offset: number;
    }): Promise<R[]>;
  },
  query: ListQuery,
  where: Predicate,
) {
  const { startIndex, limit, offset } = windowOf(query);
  if (!Number.isSafeInteger(offset)) throw badRequest("is too large", "startIndex");
  const totalResults = await collection.count(where);
  const order = [{ column: "id", direction: "asc" as const }];
  const rows = limit === 0 || offset >= totalResults ? [] : await collection.list({ where, order, limit, offset });
  return { rows, head: { schemas: [scimUrns.list], totalResults, startIndex, itemsPerPage: rows.length } };
}
