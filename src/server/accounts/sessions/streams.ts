// Ends streams when their session, token, user or role ends. Each server watches the streams that it serves.
import { channels } from "../../platform/core/channels.ts";
import { seconds } from "../../platform/core/clock.ts";
import type { Services, Viewer } from "../../platform/core/context.ts";
import { overBudget } from "../../platform/core/errors.ts";
import { startedPart } from "../../platform/core/running.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { endOf, isOver } from "./lifetime.ts";

/** The maximum number of streams per user, server and kind, so that one user cannot use up the shared limit. */
export const STREAMS_PER_USER = 10;
/** Streams are checked this often even if no notification was received. */
const LOOK_EVERY = seconds(15);
/** Node fires longer timers immediately. */
const TIMER_MAX = 2 ** 31 - 1;

type StreamKind = "activities" | "live queries" | "websockets" | "sign-ups";

interface Stream {
  readonly viewer: Viewer;
  readonly kind: StreamKind;
  /** Whether this user may still read the stream. */
  readonly allowed: (viewer: Viewer) => boolean;
  readonly end: () => void;
}

/** Call this in the transaction of a change that may end streams of these users. */
export async function sessionsChanged(
  { store }: { readonly store: ServerTx },
  userIds: readonly number[],
): Promise<void> {
  if (userIds.length === 0) return;
  await store.notify(channels.sessions, userIds.length <= 500 ? JSON.stringify(userIds) : "*");
}

/** The streams that this server sends. */
class UserStreams {
  readonly #services: Services;
  readonly #open = new Set<Stream>();
  readonly #timer: NodeJS.Timeout;
  #unlisten = async () => {};

  static async start(services: Services): Promise<UserStreams> {
    const streams = new UserStreams(services);
    const changed = (payload: string) => streams.#checkUsers(payload);
    streams.#unlisten = await services.store.listen(channels.sessions, changed, () => changed("*"));
    return streams;
  }

  constructor(services: Services) {
    this.#services = services;
    this.#timer = setInterval(() => void this.#endRefused([...this.#open]), LOOK_EVERY);
    this.#timer.unref();
  }

  /**
   * Watches a stream until the returned function is called. Calls `end` when the stream must end. 429 for too many
   * streams.
   */
  open(stream: Stream): () => void {
    const { viewer, kind } = stream;
    const ofUser = [...this.#open].filter((each) => each.viewer.id === viewer.id && each.kind === kind);
    if (ofUser.length >= STREAMS_PER_USER)
      throw overBudget(`you have ${STREAMS_PER_USER} streams of ${kind} open; close one of them`, 30);
    this.#open.add(stream);
    // The session or role may have ended since it was checked.
    void this.#endRefused([stream]);
    const { store, settings, clock } = this.#services;
    let expiry: NodeJS.Timeout | undefined;
    void store.sessions.get(viewer.session_id).then(
      (session) => {
        const end = session && endOf(settings, session, viewer.api_only);
        if (end === null || !this.#open.has(stream)) return;
        const left = Math.min(Math.max(1, end - clock.now()), TIMER_MAX);
        expiry = setTimeout(() => void this.#endRefused([stream]), left).unref();
      },
      () => {},
    );
    return () => {
      this.#open.delete(stream);
      clearTimeout(expiry);
    };
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#unlisten();
  }

  #checkUsers(payload: string): void {
    const ids = payload === "*" ? null : new Set(JSON.parse(payload) as number[]);
    void this.#endRefused([...this.#open].filter(({ viewer }) => ids === null || ids.has(viewer.id)));
  }

  async #endRefused(streams: readonly Stream[]): Promise<void> {
    for (const stream of streams) {
      // An unavailable store ends no streams: they are checked again later.
      const stays = await this.#mayGoOn(stream).catch((error: unknown) => {
        this.#services.log.warn({ err: error }, "could not check whether a stream may continue");
        return true;
      });
      if (!stays && this.#open.delete(stream)) stream.end();
    }
  }

  async #mayGoOn({ viewer, allowed }: Stream): Promise<boolean> {
    const { store, settings, clock } = this.#services;
    const [session, user] = await Promise.all([store.sessions.get(viewer.session_id), store.users.get(viewer.id)]);
    if (!session || !user || isOver({ settings, clock }, session, user.api_only)) return false;
    return allowed(await viewerOf(store, user, session));
  }
}

export const userStreams = startedPart("streams", UserStreams.start);
