import { type ReactElement, useEffect, useState } from "react";
import { selectorsApi } from "../../../../api/inventory/selectors.ts";
import { targetsApi } from "../../../../api/inventory/targets.ts";
import { useRead } from "../../../api.ts";
import { counted, formatted } from "../../../parts/counted.ts";
import type { requestOf } from "./targets.ts";

const PAUSE_MS = 250;

/** The value after it has not changed for a moment: what one types is not counted letter by letter. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

interface TargetCountProps {
  readonly targets: ReturnType<typeof requestOf>;
  readonly teamId: number | null;
  readonly queryId: number | null;
}

/** How many hosts are targeted, and how many of them are online. */
export function TargetCount({ targets, teamId, queryId }: TargetCountProps): ReactElement {
  const text = useSettled(JSON.stringify(targets));
  const { where, selected } = JSON.parse(text) as typeof targets;
  const isSelector = where !== undefined;
  const check = useRead(
    selectorsApi.check,
    { body: { where: where ?? "", ...(teamId === null ? {} : { team_id: teamId }) } },
    { enabled: isSelector && where !== "" },
  );
  const count = useRead(
    targetsApi.count,
    { body: { selected: selected ?? {}, ...(queryId === null ? {} : { query_id: queryId }) } },
    { enabled: !isSelector, isLive: true },
  );
  return (
    <p role="status" className="list-status">
      {isSelector ? selectorText(where, check.data) : countText(count.data)}
    </p>
  );
}

function selectorText(
  where: string,
  check: { readonly valid: boolean; readonly count: number | null } | undefined,
): string {
  if (where === "") return "No hosts yet: type a selector";
  if (check === undefined) return "Counting hosts";
  if (!check.valid) return "The selector is not complete";
  return check.count === null ? "Many hosts match" : `${counted(check.count, "host")} selected`;
}

const countText = (count: { readonly targets_count: number; readonly targets_online: number } | undefined): string =>
  count === undefined
    ? "Counting hosts"
    : `${counted(count.targets_count, "host")} selected, ${formatted(count.targets_online)} online`;
