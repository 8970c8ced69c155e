/** Enables only the accounts that the lock script disabled. */
export const windowsUnlock = String.raw`# Unlocks this computer. Runs as SYSTEM.
$ErrorActionPreference = 'Stop'
$folder = Join-Path $env:ProgramData 'svc-lock'
$file = Join-Path $folder 'state.json'
$winlogon = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'

try {
    if (-not (Test-Path -LiteralPath $file)) { throw "there is no list of accounts to enable ($file)" }
    $state = Get-Content -LiteralPath $file -Raw | ConvertFrom-Json

    $failed = @()
    foreach ($sid in @($state.accounts)) {
        # An account that has gone since needs nothing.
        $user = Get-LocalUser -SID $sid -ErrorAction SilentlyContinue
        if ($null -eq $user) { continue }
        try { Enable-LocalUser -SID $sid } catch { $failed += "$($user.Name): $($_.Exception.Message)" }
    }
    if ([string]$state.cached -eq '') {
        Remove-ItemProperty -LiteralPath $winlogon -Name 'CachedLogonsCount' -ErrorAction SilentlyContinue
    } else {
        Set-ItemProperty -LiteralPath $winlogon -Name 'CachedLogonsCount' -Value ([string]$state.cached) -Type String
    }

    # Kept until all is undone, so that the unlock can be tried again.
    if ($failed.Count -gt 0) { throw "accounts that could not be enabled: $($failed -join '; ')" }
    Remove-Item -LiteralPath $folder -Recurse -Force
    Write-Output 'unlocked'
    exit 0
} catch {
    Write-Output "FAILED: $($_.Exception.Message)"
    exit 1
}
`;
