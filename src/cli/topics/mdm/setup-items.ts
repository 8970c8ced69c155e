// The items of a host's setup, for people.
import type { SetupItem } from "../../../api/delivery/setup-results.ts";
import type { View } from "../../output/output.ts";

export interface ShownItem {
  readonly item: string;
  readonly kind: "software" | "script";
  readonly status: SetupItem["status"];
  readonly error: string | null;
}

const shownItem = ({ display_name, status, error }: SetupItem, kind: ShownItem["kind"]): ShownItem => ({
  item: display_name,
  kind,
  status,
  error,
});

export const shownItems = (software: readonly SetupItem[], script: SetupItem | null | undefined): ShownItem[] => [
  ...software.map((item) => shownItem(item, "software")),
  ...(script ? [shownItem(script, "script")] : []),
];

export const setupItemView: View = { columns: [{ key: "item" }, { key: "kind" }, { key: "status" }, { key: "error" }] };
