// Protocols of agents and devices: endpoints outside the API's description, with errors in a form of their own.
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import type { ApiError } from "../errors.ts";
import type { Route } from "./route.ts";

export interface Protocol {
  readonly routes: readonly Route[];
  /** The paths of an endpoint that depend on settings. Default: those of its declaration. */
  readonly pathsOf?: (endpoint: AnyEndpoint) => readonly string[];
  /** Headers of every reply, refusals included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reply to a request that failed. Default: the errors of the API. */
  readonly renderError?: (error: ApiError, request: FailedRequest) => ErrorReply;
}

export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: { get(name: string): string | null };
}

export interface ErrorReply {
  readonly status: number;
  /** The media type; without one, the reply has no content. */
  readonly type?: string;
  readonly content?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}
