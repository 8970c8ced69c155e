/** Value of the header `X-Svc-Warning` if an untrusted proxy on the server's machine forwards requests. */
export const UNTRUSTED_PROXY = "untrusted-proxy";
