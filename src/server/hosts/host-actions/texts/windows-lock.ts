/**
 * Disables local accounts, blocks sign-in with cached credentials and ends all sessions. The previous state is saved
 * below ProgramData, readable by SYSTEM and administrators only. On failure it is restored, because the server then
 * still shows the host as unlocked.
 */
export const windowsLock = String.raw`# Locks this computer. Runs as SYSTEM.
$ErrorActionPreference = 'Stop'
$folder = Join-Path $env:ProgramData 'svc-lock'
$file = Join-Path $folder 'state.json'
$winlogon = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'
$disabled = @()
$blocked = $false
$second = Test-Path -LiteralPath $file

try {
    if ((Get-CimInstance -ClassName Win32_ComputerSystem).DomainRole -ge 4) {
        throw 'this is a domain controller: it has no local accounts'
    }

    $state = @{ accounts = @(); cached = $null }
    if ($second) {
        # A second run adds to what the first wrote down: by now those accounts are disabled.
        $before = Get-Content -LiteralPath $file -Raw | ConvertFrom-Json
        $state.accounts = @($before.accounts)
        $state.cached = $before.cached
    } else {
        $state.cached = (Get-ItemProperty -LiteralPath $winlogon -Name 'CachedLogonsCount' -ErrorAction SilentlyContinue).CachedLogonsCount
        if ($null -eq $state.cached) { $state.cached = '' }
    }
    $enabled = @(Get-LocalUser | Where-Object { $_.Enabled })
    foreach ($user in $enabled) {
        if ($state.accounts -notcontains $user.SID.Value) { $state.accounts += $user.SID.Value }
    }

    # Written down before anything changes: without the list nothing could be undone.
    if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType Directory -Path $folder | Out-Null }
    & icacls.exe $folder /inheritance:r /grant:r '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' | Out-Null
    if ($LASTEXITCODE -ne 0) { throw "the folder $folder cannot be closed to others" }
    $state | ConvertTo-Json | Set-Content -LiteralPath $file -Encoding UTF8

    Set-ItemProperty -LiteralPath $winlogon -Name 'CachedLogonsCount' -Value '0' -Type String
    $blocked = $true
    foreach ($user in $enabled) {
        try { Disable-LocalUser -SID $user.SID } catch { throw "the account $($user.Name) cannot be disabled: $($_.Exception.Message)" }
        $disabled += $user
    }

    # Sessions of people have a desktop; session 0 is that of services.
    $sessions = @(Get-Process -Name 'explorer', 'winlogon' -ErrorAction SilentlyContinue |
        Where-Object { $_.SessionId -gt 0 } | Select-Object -ExpandProperty SessionId -Unique)
    foreach ($session in $sessions) { & logoff.exe $session | Out-Null }

    Write-Output "locked: $($state.accounts.Count) accounts, $($sessions.Count) sessions ended"
    exit 0
} catch {
    Write-Output "FAILED: $($_.Exception.Message)"
    foreach ($user in $disabled) { Enable-LocalUser -SID $user.SID -ErrorAction SilentlyContinue }
    if (-not $second) {
        if ($blocked -and $state.cached -eq '') {
            Remove-ItemProperty -LiteralPath $winlogon -Name 'CachedLogonsCount' -ErrorAction SilentlyContinue
        } elseif ($blocked) {
            Set-ItemProperty -LiteralPath $winlogon -Name 'CachedLogonsCount' -Value ([string]$state.cached) -Type String -ErrorAction SilentlyContinue
        }
        Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue
    }
    exit 1
}
`;
