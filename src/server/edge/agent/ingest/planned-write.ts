import type { PolicyCache } from "../../../checks/policies/cache.ts";
import type { LabelCache } from "../../../hosts/labels/dynamic.ts";
import type { ConfigCache } from "../config/cache.ts";
import type { HostRow, HostState } from "../hosts/state.ts";
import type { DetailQueries } from "../inventory/detail-queries.ts";
import type { HostChanges } from "../inventory/host-fields.ts";
import type { WriteResults } from "./results.ts";
import type { SourceValues } from "./sources.ts";

/** What decides which queries a host gets, and what its results mean. */
export interface QueryCaches {
  readonly configs: ConfigCache;
  readonly labels: LabelCache;
  readonly policies: PolicyCache;
  readonly details: DetailQueries;
}

export interface IngestItem {
  readonly state: HostState;
  readonly address: string;
  readonly results: WriteResults;
  /** The length of the message. */
  readonly length: number;
}

export interface PlannedWrite {
  readonly item: IngestItem;
  readonly row: HostRow;
  /** Columns of the host that change. The plans of other tables add to it. */
  readonly set: Partial<HostRow>;
  readonly changes: HostChanges | null;
  readonly values: SourceValues | null;
}
