// The labels whose members agents tell by answering a query, held in memory.
import { Cached } from "../agent/cached.ts";
import { ALL_HOSTS } from "../agent/inventory/labels.ts";
import { platformFamily } from "../agent/inventory/platforms.ts";
import { channels } from "../core/channels.ts";
import type { Services } from "../core/context.ts";
import { and, eq } from "../store/query.ts";

export interface DynamicLabel {
  readonly id: number;
  readonly query: string;
  readonly platform: string;
}

export interface DynamicLabels {
  readonly byId: ReadonlyMap<number, DynamicLabel>;
  /** Those that a host of this platform is asked. */
  for(platform: string, platformLike: string): readonly DynamicLabel[];
}

export interface LabelCache {
  get(): Promise<DynamicLabels>;
  /** The built-in label that every host is in. */
  allHosts(): Promise<number>;
  forget(): void;
  stop(): Promise<void>;
}

export async function createLabelCache({ store }: Pick<Services, "store">): Promise<LabelCache> {
  const labels = new Cached(async (): Promise<DynamicLabels> => {
    const rows = await store.labels.pick(["id", "query", "platform"], {
      where: eq("label_membership_type", "dynamic"),
    });
    // An agent stops reading its answer at an empty query.
    const asked = rows.filter(({ query }) => query.trim() !== "");
    return {
      byId: new Map(asked.map((label) => [label.id, label])),
      for(platform, platformLike) {
        const family = platformFamily(platform, platformLike);
        return asked.filter(
          (label) => label.platform === "" || label.platform === platform || label.platform === family,
        );
      },
    };
  });
  const allHosts = new Cached(async () => {
    const label = await store.labels.first({ where: and(eq("name", ALL_HOSTS), eq("label_type", "builtin")) });
    if (!label) throw new Error(`the label ${ALL_HOSTS} is missing`);
    return label.id;
  });
  const forget = () => labels.forget();
  const stop = await store.listen(channels.labels, forget, forget);
  return { get: () => labels.get(), allHosts: () => allHosts.get(), forget, stop };
}
