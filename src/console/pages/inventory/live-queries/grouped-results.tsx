import { type ReactElement, useMemo } from "react";
import { counted, formatted } from "../../../parts/counted.ts";
import { SmallTable } from "../../../parts/small-table.tsx";
import type { LiveResults } from "./live-results.ts";

const MAX_SHOWN = 500;

interface GroupedResultsProps {
  readonly results: LiveResults;
  readonly column: string;
  /** Changes with the results. */
  readonly version: number;
}

/** The values of a column, with how many rows and hosts have each. */
export function GroupedResults({ results, column, version }: GroupedResultsProps): ReactElement {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the results change in place, and the version with them
  const groups = useMemo(() => results.groupsOf(column), [results, column, version]);
  return (
    <>
      <p className="quiet">
        {counted(groups.length, "value")}
        {groups.length > MAX_SHOWN && `, of which those of most rows are shown`}
      </p>
      <SmallTable
        name={`Results by ${column}`}
        rows={groups.slice(0, MAX_SHOWN)}
        keyOf={({ value }) => value}
        columns={[
          { name: column, cell: ({ value }) => value || <span className="quiet">empty</span> },
          { name: "Rows", isNumber: true, cell: ({ rows }) => formatted(rows) },
          { name: "Hosts", isNumber: true, cell: ({ hosts }) => formatted(hosts) },
        ]}
        empty="No rows yet."
      />
    </>
  );
}
