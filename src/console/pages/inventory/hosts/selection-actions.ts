import type { SelectionAction } from "../../../parts/list/definition.ts";
import { consolePaths } from "../../../routes.ts";
import { isPremium, maySomewhere } from "../../../session.ts";
import type { UrlChange } from "../../../url.ts";
import type { SelectedHost } from "./frozen-selection.ts";
import type { HostSelection } from "./selected-hosts.tsx";
import type { OpenDialog } from "./selection-dialog.tsx";

const LIVE_QUERY = "/queries/live/new";

/** What the user may do with selected hosts. */
export function selectionActions(
  open: (dialog: OpenDialog) => void,
  onLiveQuery: (selection: HostSelection) => void,
): readonly SelectionAction<SelectedHost>[] {
  const dialog = (name: OpenDialog["name"]) => (selection: HostSelection, clear: () => void) =>
    open({ name, selection, clear });
  const premium = isPremium();
  const mayLock = maySomewhere("hosts:lock");
  const actions: readonly (SelectionAction<SelectedHost> | false)[] = [
    maySomewhere("hosts:refetch") && { name: "Refetch", onSelect: dialog("refetch") },
    maySomewhere("hosts:label") && { name: "Labels", onSelect: dialog("labels") },
    premium && maySomewhere("hosts:transfer") && { name: "Transfer", onSelect: dialog("transfer") },
    maySomewhere("scripts:run") && { name: "Run script", onSelect: dialog("script") },
    premium && maySomewhere("software:install") && { name: "Install", onSelect: dialog("install") },
    premium && maySomewhere("software:install") && { name: "Uninstall", onSelect: dialog("uninstall") },
    maySomewhere("queries:run") && consolePaths.includes(LIVE_QUERY) && { name: "Live query", onSelect: onLiveQuery },
    premium && mayLock && { name: "Lock", onSelect: dialog("lock"), isDangerous: true },
    premium && mayLock && { name: "Unlock", onSelect: dialog("unlock") },
    mayLock && { name: "Wipe", onSelect: dialog("wipe"), isDangerous: true },
    maySomewhere("hosts:delete") && { name: "Delete", onSelect: dialog("delete"), isDangerous: true },
  ];
  return actions.filter((action) => action !== false);
}

/** The filters that the page of live queries takes. With others it would query more hosts than are selected. */
const targetFilters = ["where", "team_id"];

/** The selected hosts as parameters of the page of live queries. Null: it cannot select them. */
export function targetsOf(selection: HostSelection): UrlChange | null {
  if (selection.kind === "rows") return { host_id: selection.rows.map(({ id }) => id).join(",") };
  return Object.keys(selection.filters).every((name) => targetFilters.includes(name)) ? selection.filters : null;
}
