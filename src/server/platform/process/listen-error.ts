import { BadSetting } from "../core/security/tls.ts";

/**
 * After a server restart all agents connect at once; connections that do not fit into the queue are delayed by a
 * second or more.
 */
export const BACKLOG = 4096;

export function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === "EADDRINUSE")
    return new BadSetting(`port: ${port} on ${host} is in use; choose another with --port`);
  if (error.code === "EACCES") return new BadSetting(`port: ${port} may not be used by this user`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return new BadSetting(`host: ${host} is not an address of this machine`);
  return error;
}
