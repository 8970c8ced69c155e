// Replies to requests for the configuration.

import { writeIntervals } from "../../../hosts/hosts/reported.ts";
import { seenRow } from "../../../hosts/hosts/seen.ts";
import type { AgentReply } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { StoreUnavailable } from "../../../platform/store/store.ts";
import type { HostState } from "../hosts/state.ts";
import type { AgentConfig, Intervals } from "./team-config.ts";

export class ConfigReplies {
  readonly #services: Pick<Services, "store" | "clock">;

  constructor(services: Pick<Services, "store" | "clock">) {
    this.#services = services;
  }

  /** Remembers that the host gets this configuration, and stores its intervals if they differ from the stored ones. */
  replyWith(sent: AgentConfig, state: HostState): AgentReply | Promise<AgentReply> {
    if (state.config === sent) return sent.reply;
    const { distributed_interval, config_tls_refresh, logger_tls_period } = sent.intervals;
    const areStored =
      (distributed_interval ?? state.distributedInterval) === state.distributedInterval &&
      (config_tls_refresh ?? state.configTlsRefresh) === state.configTlsRefresh &&
      (logger_tls_period ?? state.loggerTlsPeriod) === state.loggerTlsPeriod;
    state.config = sent;
    return areStored ? sent.reply : this.#storeIntervals(state, sent.intervals).then(() => sent.reply);
  }

  /** Stores changed intervals immediately, since they determine how long the host counts as online. */
  async #storeIntervals(state: HostState, intervals: Intervals): Promise<void> {
    const { store, clock } = this.#services;
    state.distributedInterval = intervals.distributed_interval ?? state.distributedInterval;
    state.configTlsRefresh = intervals.config_tls_refresh ?? state.configTlsRefresh;
    state.loggerTlsPeriod = intervals.logger_tls_period ?? state.loggerTlsPeriod;
    const now = clock.now();
    const row = seenRow(
      { id: state.id, distributed_interval: state.distributedInterval, config_tls_refresh: state.configTlsRefresh },
      now,
    );
    try {
      await store.tx((tx) => writeIntervals(tx, row, intervals, now));
    } catch (error) {
      // The configuration is valid; storing the intervals is retried at the next request.
      state.config = null;
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}
