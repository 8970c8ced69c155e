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

interface Streams {
  /**
   * Watches a stream until the returned function is called. Calls `end` when the stream must end. 429 for too many
   * streams.
   */
  open(stream: Stream): () => void;
  stop(): Promise<void>;
}

export const userStreams = startedPart("streams", startStreams);

/** Call this in the transaction of a change that may end streams of these users. */
export async function sessionsChanged(
  { store }: { readonly store: ServerTx },
  userIds: readonly number[],
): Promise<void> {
  if (userIds.length === 0) return;
  await store.notify(channels.sessions, userIds.length <= 500 ? JSON.stringify(userIds) : "*");
}

async function startStreams(services: Services): Promise<Streams> {
  const { store, clock, settings, log } = services;
  const open = new Set<Stream>();

  async function mayGoOn({ viewer, allowed }: Stream): Promise<boolean> {
    const [session, user] = await Promise.all([store.sessions.get(viewer.session_id), store.users.get(viewer.id)]);
    if (!session || !user || isOver({ settings, clock }, session, user.api_only)) return false;
    return allowed(await viewerOf(store, user, session));
  }

  async function endRefused(streams: readonly Stream[]): Promise<void> {
    for (const stream of streams) {
      // An unavailable store ends no streams: they are checked again later.
      const stays = await mayGoOn(stream).catch((error: unknown) => {
        log.warn({ err: error }, "could not check whether a stream may continue");
        return true;
      });
      if (!stays && open.delete(stream)) stream.end();
    }
  }

  const onMessage = (payload: string) => {
    const ids = payload === "*" ? null : new Set(JSON.parse(payload) as number[]);
    void endRefused([...open].filter(({ viewer }) => ids === null || ids.has(viewer.id)));
  };
  const unlisten = await store.listen(channels.sessions, onMessage, () => onMessage("*"));
  const timer = setInterval(() => void endRefused([...open]), LOOK_EVERY);
  timer.unref();

  return {
    open(stream) {
      const { viewer, kind } = stream;
      const userStreams = [...open].filter((each) => each.viewer.id === viewer.id && each.kind === kind);
      if (userStreams.length >= STREAMS_PER_USER)
        throw overBudget(`you have ${STREAMS_PER_USER} streams of ${kind} open; close one of them`, 30);
      open.add(stream);
      // The session or role may have ended since it was checked.
      void endRefused([stream]);
      let expiry: NodeJS.Timeout | undefined;
      void store.sessions.get(viewer.session_id).then(
        (session) => {
          const end = session && endOf(settings, session, viewer.api_only);
          if (end === null || !open.has(stream)) return;
          const left = Math.min(Math.max(1, end - clock.now()), TIMER_MAX);
          expiry = setTimeout(() => void endRefused([stream]), left).unref();
        },
        () => {},
      );
      return () => {
        open.delete(stream);
        clearTimeout(expiry);
      };
    },
    async stop() {
      clearInterval(timer);
      await unlisten();
    },
  };
}
