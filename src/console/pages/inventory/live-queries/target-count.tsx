import type { ReactElement } from "react";
import { selectorsApi } from "../../../../api/inventory/selectors.ts";
import { targetsApi } from "../../../../api/inventory/targets.ts";
import { useRead } from "../../../api.ts";
import { counted, formatted } from "../../../parts/counted.ts";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import { useSettled } from "../../../parts/form/use-settled.ts";
import type { requestOf } from "./targets.ts";

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
  const failed = isSelector ? check : count;
  if (failed.isError && failed.data === undefined)
    return <ErrorMessage error={failed.error} onRetry={() => void failed.refetch()} />;
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
