import type { SelectionAction } from "../../../parts/list/definition.ts";
import { consolePaths } from "../../../routes.ts";
import { isPremium, maySomewhere } from "../../../session.ts";
import type { UrlChange } from "../../../url.ts";
import type { SelectedHost } from "./frozen-selection.ts";
import type { HostSelection } from "./selected-hosts.tsx";
import type { OpenDialog } from "./selection-dialogs.tsx";

const LIVE_QUERY = "/queries/live/new";

/** What the user may do with selected hosts. */
export function selectionActions(
  open: (dialog: OpenDialog) => void,
  onLiveQuery: (selection: HostSelection) => void,
): readonly SelectionAction<SelectedHost>[] {
  const dialog = (name: OpenDialog["name"]) => (selection: HostSelection, clear: () => void) =>
    open({ name, selection, clear });
  const actions: readonly (SelectionAction<SelectedHost> | false)[] = [
    isPremium() && maySomewhere("hosts:transfer") && { name: "Transfer", onSelect: dialog("transfer") },
    maySomewhere("scripts:run") && { name: "Run script", onSelect: dialog("script") },
    maySomewhere("queries:run") && consolePaths.includes(LIVE_QUERY) && { name: "Live query", onSelect: onLiveQuery },
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
