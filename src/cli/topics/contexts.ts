import type { Context } from "../auth/contexts.ts";
import type { View } from "../output/output.ts";

export const contextRow = (name: string, context: Context, current: string | null) => ({
  name,
  current: name === current,
  server_url: context.server_url,
  email: context.email,
  token_in: context.token_in,
  insecure: context.insecure,
  own_ca: context.ca !== null,
});

export const contextView: View = {
  columns: [
    { key: "current", header: "", text: (current) => (current === true ? "*" : "") },
    { key: "name" },
    { key: "server_url", header: "server", whole: true },
    { key: "email" },
    { key: "token_in", header: "token", text: (place) => (typeof place === "string" ? place : "not signed in") },
  ],
};
