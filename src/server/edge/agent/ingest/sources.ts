// Runs the sources of inventory that features add.

import type { HostDetails } from "../../../hosts/hosts/inventory/details.ts";
import type { Answers, InventorySource, SourcePlan, SourceWriter } from "../../../hosts/hosts/inventory/source.ts";
import { appliesTo, type DetailQuery } from "../../../platform/agent-protocol/detail-query.ts";
import type { Services } from "../../../platform/core/context.ts";
import { extensionPoint } from "../../../platform/core/extensions.ts";
import { platformFamily } from "../../../platform/core/platforms.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import type { HostRow } from "../hosts/state.ts";

/** What features ask agents about hosts, in the order in which their values are written. */
export const inventorySources = extensionPoint<InventorySource>("sources of inventory");

interface HostText {
  readonly query: DetailQuery;
  readonly text: string;
}

/** The queries whose text differs from host to host, for this host. */
export async function textsForHost(
  { store, extensions }: Pick<Services, "store" | "extensions">,
  host: Pick<HostRow, "id" | "platform" | "platform_like">,
): Promise<HostText[]> {
  const family = platformFamily(host.platform, host.platform_like);
  const texts: HostText[] = [];
  for (const source of extensions.of(inventorySources)) {
    const query = source.queries.find(({ perHost }) => perHost);
    if (!query || family === "unknown" || !appliesTo(query, family)) continue;
    const text = await source.textFor?.({ store }, host);
    if (text) texts.push({ query, text });
  }
  return texts;
}

export interface SourceValues {
  readonly set: Partial<HostRow>;
  readonly details: Partial<HostDetails>;
  /** By position of the source; null if it was not reported. */
  readonly values: readonly unknown[];
}

/**
 * The values of all sources for one host. A source that throws is passed to `failed`, by the name of its first query,
 * and counts as not reported: what the other sources have read is stored.
 */
export function readSources(
  sources: readonly InventorySource[],
  answers: Answers,
  failed: (query: string, error: unknown) => void,
): SourceValues {
  const set: Partial<HostRow> = {};
  const details: Partial<HostDetails> = {};
  const values = sources.map((source) => {
    try {
      const value = source.read(answers);
      if (value === null) return null;
      const fields = source.hostFields?.(value);
      const more = source.details?.(value);
      Object.assign(set, fields);
      Object.assign(details, more);
      return value;
    } catch (error) {
      failed(source.queries[0]?.name ?? "", error);
      return null;
    }
  });
  return { set, details, values };
}

interface PlannedSources {
  /** Columns of the host's row that change with what is written elsewhere. */
  hostFields(hostId: number): Partial<HostRow>;
  write(tx: ServerTx): Promise<void>;
}

export interface Sources {
  plan(
    hosts: readonly { readonly hostId: number; readonly values: readonly unknown[] }[],
    now: number,
  ): Promise<PlannedSources>;
  forget(): void;
  stop(): Promise<void>;
}

export async function startSources(services: Services): Promise<Sources> {
  const writers: { readonly at: number; readonly writer: SourceWriter<unknown> }[] = [];
  for (const [at, source] of services.extensions.of(inventorySources).entries())
    if (source.start) writers.push({ at, writer: await source.start(services) });

  return {
    async plan(hosts, now) {
      const plans: SourcePlan[] = await Promise.all(
        writers.map(({ at, writer }) => {
          const reported = hosts.flatMap(({ hostId, values }) =>
            values[at] === null ? [] : [{ hostId, value: values[at] }],
          );
          return reported.length === 0 ? {} : writer.plan(reported, now);
        }),
      );
      return {
        hostFields: (hostId) => Object.assign({}, ...plans.map((plan) => plan.hosts?.get(hostId))),
        async write(tx) {
          for (const plan of plans) await plan.write?.(tx);
        },
      };
    },
    forget() {
      for (const { writer } of writers) writer.forget?.();
    },
    async stop() {
      for (const { writer } of writers) await writer.stop?.();
    },
  };
}
