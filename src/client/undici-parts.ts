// The parts of undici that requests need. The package's main module also loads fetch, WebSocket, caches and mocks,
// which would double the run time of a short command. `scripts/bundle.mjs` replaces this module by a bundle.
import { createRequire } from "node:module";
import type { Agent as AnyAgent, Dispatcher } from "undici";

type Request = (
  this: Dispatcher,
  options: Dispatcher.RequestOptions & { origin: string },
) => Promise<Dispatcher.ResponseData>;

interface Parts {
  readonly Agent: new (options: AnyAgent.Options) => Dispatcher;
  readonly request: Request;
}

function load(): Parts {
  const require = createRequire(import.meta.url);
  try {
    return {
      Agent: require("undici/lib/dispatcher/agent.js") as Parts["Agent"],
      request: (require("undici/lib/api/index.js") as { request: Request }).request,
    };
  } catch {
    // The internal files of a package may move in any release.
    const { Agent, Dispatcher } = require("undici") as Pick<Parts, "Agent"> & { Dispatcher: { prototype: Parts } };
    return { Agent, request: Dispatcher.prototype.request };
  }
}

/** undici's agent and its request call. */
export const { Agent, request } = load();
