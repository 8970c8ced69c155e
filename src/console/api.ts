// Requests to the API: reading with a cache that all parts of a page share, and changing.
import {
  QueryClient,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback } from "react";
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import { BrowserClient } from "../client/browser-client.ts";
import { ApiCallError } from "../client/errors.ts";
import { session } from "./session.ts";

export const client = new BrowserClient({ formToken: () => session.data.form_token });

/** How often what is on screen is read again, in milliseconds. */
export const REFRESH_MS = 10_000;
const MAX_RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (count, error) => count < MAX_RETRIES && isTemporary(error),
      refetchOnWindowFocus: true,
      // A request without a network fails at once, and is reported; the default waits silently for the network.
      networkMode: "always",
      refetchOnReconnect: true,
    },
  },
});

/** Whether a repetition may succeed: there was no reply, or the server has too much to do. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ApiCallError ? [429, 502, 503, 504].includes(error.status) : error instanceof Error;

/** Whether the server refused the session, as opposed to the request. */
const isSessionOver = (error: unknown): boolean => error instanceof ApiCallError && error.status === 401;

/** The first part of the key of everything that was read from an endpoint. */
export const keyOf = (endpoint: AnyEndpoint): string => `${endpoint.method} ${endpoint.path}`;

interface ReadOptions<Value> {
  /** Whether to read at all. */
  readonly enabled?: boolean;
  /** Whether to read again while the page is visible. */
  readonly isLive?: boolean;
  readonly select?: (value: Value) => Value;
  readonly staleTime?: number;
}

/** Reads from an endpoint. While another input loads, the value before stays. */
export function useRead<E extends AnyEndpoint>(
  endpoint: E,
  input: InputOf<E> = {},
  { enabled = true, isLive = false, staleTime }: ReadOptions<ReplyOf<E>> = {},
): UseQueryResult<ReplyOf<E>> {
  const queryKey = [keyOf(endpoint), input] as const;
  const options: UseQueryOptions<ReplyOf<E>> = {
    queryKey,
    queryFn: ({ signal }) => request(() => client.call(endpoint, input, { signal })),
    // Rows of another page of the same list may stay; another object must never stand under this one's name.
    placeholderData: ((previous: unknown, before?: { readonly queryKey: readonly unknown[] }) =>
      before !== undefined && isSameObject(before.queryKey, queryKey) ? previous : undefined) as UseQueryOptions<
      ReplyOf<E>
    >["placeholderData"],
    enabled,
    refetchInterval: ({ state }) => intervalOf(state, isLive),
    ...(staleTime === undefined ? {} : { staleTime }),
  };
  return useQuery(options);
}

/** Reads a file from an endpoint, as text. */
export function useReadText<E extends AnyEndpoint>(
  endpoint: E,
  input: InputOf<E>,
  { enabled = true }: { readonly enabled?: boolean } = {},
): UseQueryResult<string> {
  return useQuery({
    queryKey: [keyOf(endpoint), input, "text"],
    queryFn: async ({ signal }) => {
      const { content } = await request(() => client.download(endpoint, input, { signal }));
      return content.text();
    },
    enabled,
  });
}

/** What failed for a while is tried again. The first read is not repeated while it goes on, nor after it was cancelled. */
const intervalOf = (state: { readonly status: string; readonly error: unknown }, isLive: boolean): number | false =>
  (isLive && state.status !== "pending") || (state.status === "error" && isTemporary(state.error)) ? REFRESH_MS : false;

const isSameObject = (before: readonly unknown[], now: readonly unknown[]): boolean =>
  before[0] === now[0] && JSON.stringify(paramsIn(before[1])) === JSON.stringify(paramsIn(now[1]));

const paramsIn = (input: unknown): unknown => (input as { readonly params?: unknown } | undefined)?.params;

/** Sends a request; a session that is over is noticed by the frame, which asks the user to sign in again. */
export async function request<Value>(send: () => Promise<Value>): Promise<Value> {
  try {
    return await send();
  } catch (error) {
    if (isSessionOver(error)) session.end();
    throw error;
  }
}

/** A function that marks what was read from these endpoints as outdated, so that what is on screen is read again. */
export function useOutdate(): (...endpoints: readonly AnyEndpoint[]) => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    async (...endpoints) => {
      const keys = endpoints.map(keyOf);
      await queries.invalidateQueries({ predicate: ({ queryKey }) => keys.includes(String(queryKey[0])) });
    },
    [queries],
  );
}
