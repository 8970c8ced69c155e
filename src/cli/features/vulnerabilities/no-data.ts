// Without vulnerability data nothing can be found, which is not the same as that there is nothing.
export const NO_DATA =
  "vulnerability data was never imported, so nothing is known about the software of your hosts; see svc vulnerabilities status";
