// A certificate of an access product for settings: nothing is signed with its key.
export const PROVIDER_CERTIFICATE = [
  "-----BEGIN CERTIFICATE-----",
  "MIIBkTCCATegAwIBAgIUekhr6qDE5c0ONzEIuE59uyEY+98wCgYIKoZIzj0EAwIw",
  "HTEbMBkGA1UEAwwSYWNjZXNzLmV4YW1wbGUuY29tMCAXDTI2MTEyNDEzNTgxNFoY",
  "DzIxMjYxMDMxMTM1ODE0WjAdMRswGQYDVQQDDBJhY2Nlc3MuZXhhbXBsZS5jb20w",
  "WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATD7cQ0QxbG0VNUwY96TqEukmsdqeDU",
  "HthCGmF0ys75KbGKTegukyNKgDpvm6AjqFPKc+K57M7ZNjdPRZXXC8yeo1MwUTAd",
  "BgNVHQ4EFgQUaDUGzlqh+CQbk7V+JcmcQY0aKJ0wHwYDVR0jBBgwFoAUaDUGzlqh",
  "+CQbk7V+JcmcQY0aKJ0wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF",
  "AiEA6jDT6kEEzhY6u5erzvBUzHuWfoUdvSv2IAWPw0aLCNUCIASkUhpv90Lwtfje",
  "buG8GI7SliiEixhTR64MitYSPqpz",
  "-----END CERTIFICATE-----",
].join("\n");
