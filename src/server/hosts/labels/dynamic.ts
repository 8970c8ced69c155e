// Dynamic labels, cached in memory. Agents report whether their host is a member by answering the label's query.

import { channels } from "../../platform/core/channels.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { eq } from "../../platform/store/query.ts";
import { reaches } from "./reach.ts";

interface DynamicLabel {
  readonly id: number;
  readonly query: string;
  readonly platform: string;
  readonly asked_teams: readonly number[] | null;
  readonly asked_revision: number;
}

export interface DynamicLabels {
  readonly byId: ReadonlyMap<number, DynamicLabel>;
  /** The highest revision of these labels. */
  readonly revision: number;
  /** The labels that apply to a host of this platform and team. */
  for(platform: string, platformLike: string, teamId: number | null): readonly DynamicLabel[];
}

export interface LabelCache {
  get(): Promise<DynamicLabels>;
  /**
   * Labels at least as new as the revision and the ids: another server may have sent queries that this one has not
   * loaded yet.
   */
  covering(revision: number, ids: Iterable<number>): Promise<DynamicLabels>;
  forget(): void;
  stop(): Promise<void>;
}

export async function createLabelCache({ store }: Pick<Services, "store">): Promise<LabelCache> {
  const labels = new CachedValue(async (): Promise<DynamicLabels> => {
    const rows = await store.labels.pick(["id", "query", "platform", "asked_teams", "asked_revision"], {
      where: eq("label_membership_type", "dynamic"),
    });
    // An agent stops reading the reply at an empty query.
    const queried = rows.filter(({ query }) => query.trim() !== "");
    return {
      byId: new Map(queried.map((label) => [label.id, label])),
      revision: queried.reduce((newest, { asked_revision }) => Math.max(newest, asked_revision), 0),
      for(platform, platformLike, teamId) {
        const family = platformFamily(platform, platformLike);
        return queried.filter(
          (label) =>
            (label.platform === "" || label.platform === platform || label.platform === family) &&
            reaches(label.asked_teams, teamId),
        );
      },
    };
  });
  const forget = () => labels.forget();
  const stop = await store.listen(channels.labels, forget, forget);
  async function covering(revision: number, ids: Iterable<number>): Promise<DynamicLabels> {
    const cached = await labels.get();
    let newest = 0;
    for (const id of cached.byId.keys()) newest = Math.max(newest, id);
    if (cached.revision >= revision && [...ids].every((id) => id <= newest)) return cached;
    // This server has not processed the change notification yet.
    if (labels.now === cached) forget();
    return labels.get();
  }
  return { get: () => labels.get(), covering, forget, stop };
}
