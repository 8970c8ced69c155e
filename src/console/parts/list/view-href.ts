// The addresses of saved views of lists.
import type { View } from "../../../api/settings/views.ts";
import type { UrlChange } from "../../url.ts";
import { COLUMNS } from "./columns.tsx";
import type { ViewPage } from "./definition.ts";

/** The parameter of the URL with the id of the view that was opened. */
export const VIEW = "view";

/** Where the console shows each list. */
export const viewPaths: Readonly<Partial<Record<ViewPage, string>>> = {
  hosts: "/hosts",
  labels: "/labels",
  software: "/software?tab=titles",
  software_versions: "/software?tab=versions",
  os_versions: "/software?tab=os",
  vulnerabilities: "/software?tab=vulnerabilities",
  policies: "/policies",
  queries: "/queries",
  profiles: "/controls?tab=profiles",
  commands: "/controls?tab=commands",
  certificates: "/controls?tab=certificates",
  activity: "/activity",
  approvals: "/changes?tab=approvals",
  tasks: "/changes?tab=tasks",
  users: "/settings/users",
  teams: "/settings/teams",
  tokens: "/settings/tokens",
};

/** Parameters of the URL that are no part of a view: where in the list the user is. */
const placeNames = ["page", "panel", "tab", VIEW, COLUMNS];

/** The filters and the order of the URL, as a view stores them. */
export const queryOfView = (url: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...url].filter(([name]) => !placeNames.includes(name)));

/** The parameters that make the list what the view is. */
export const urlOfView = ({ id, query, columns }: View): UrlChange => ({
  ...query,
  [COLUMNS]: columns?.join(",") ?? null,
  [VIEW]: id,
});

/** The short address that leads to the view as it is then. Null: the console does not show the list. */
export function pinOfView({ id, page }: Pick<View, "id" | "page">): string | null {
  const path = viewPaths[page];
  return path === undefined ? null : `${path}${path.includes("?") ? "&" : "?"}${VIEW}=${id}`;
}

/** The id of the view to which a pinned address leads. Null: it is another page. */
export const viewOfPin = (pin: string): number | null => {
  const id = new URLSearchParams(pin.split("?")[1] ?? "").get(VIEW);
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : null;
};
