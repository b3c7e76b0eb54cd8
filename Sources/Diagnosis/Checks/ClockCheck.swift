import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// The clock: codes, tokens and certificates have dates.
struct ClockCheck: Check {
  let id = "clock"
  let title = "the clock"
  var subject: Subject
  var machine: Machine
  /// Moments that are certainly past: what each is, and when it was.
  var witnesses: @Sendable () async -> [Witness]

  /// Something that happened, and so cannot lie ahead.
  struct Witness: Hashable, Sendable {
    var what: String
    var when: Date
  }

  /// Files copied from another machine may be this much ahead of an honest clock.
  private static let tolerance: TimeInterval = 300
  /// No clock that was ever set shows an earlier year to this program.
  private static let earliest = Date(timeIntervalSince1970: 1_735_689_600)  // 2025-01-01T00:00:00Z

  init(subject: Subject, machine: Machine) {
    self.init(subject: subject, machine: machine) { await Self.witnesses(of: subject) }
  }

  init(subject: Subject, machine: Machine, witnesses: @escaping @Sendable () async -> [Witness]) {
    self.subject = subject
    self.machine = machine
    self.witnesses = witnesses
  }

  func findings() async -> [Finding] {
    let now = subject.now
    let platform = Platform(machine)
    let set = platform.hasSystemd ? "sudo timedatectl set-ntp true" : "sudo date -u -s 'YYYY-MM-DD HH:MM'"
    if now < Self.earliest {
      return [
        Finding(
          .blocking, "clock.unset", "The clock says \(Self.text(now)): it was never set, and tokens look not yet valid",
          remedy: set)
      ]
    }
    if let latest = await witnesses().max(by: { $0.when < $1.when }),
      latest.when > now.addingTimeInterval(Self.tolerance)
    {
      return [
        Finding(
          .warning, "clock.back",
          "The clock says \(Self.text(now)), but \(latest.what) is from \(Self.text(latest.when)): it was set back, "
            + "or was ahead then", remedy: set)
      ]
    }
    if await isUnsynchronized(platform) {
      return [
        Finding(
          .note, "clock.unsynchronized", "The clock says \(Self.text(now)) and is not set by the network", remedy: set)
      ]
    }
    return [Finding(.ok, "clock.ok", "The clock says \(Self.text(now))")]
  }

  private func isUnsynchronized(_ platform: Platform) async -> Bool {
    guard platform.hasSystemd else { return false }
    let answer = await machine.run("timedatectl", ["show", "--property=NTPSynchronized", "--value"])
    return answer.output?.trimmingCharacters(in: .whitespacesAndNewlines) == "no"
  }

  static func day(_ date: Date, in zone: TimeZone = .current) -> String {
    date.formatted(Date.ISO8601FormatStyle(timeZone: zone).year().month().day())
  }

  /// In local time with its offset, as other commands print it.
  static func text(_ date: Date, in zone: TimeZone = .current) -> String {
    date.formatted(Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone))
  }

  /// This program's file, the newest event in the audit log, the beginning of the certificate.
  private static func witnesses(of subject: Subject) async -> [Witness] {
    var witnesses: [Witness] = []
    if let program = FileStatus("/proc/self/exe") {
      witnesses.append(Witness(what: "this program", when: program.modified))
    }
    let home = subject.home
    let inspection = await onThread { _ in try? HealthStore.inspect(directory: home) }
    if let newest = inspection?.newestEvent {
      witnesses.append(
        Witness(
          what: "the newest event in the audit log",
          when: Date(timeIntervalSince1970: Double(newest.microseconds) / 1e6)))
    }
    if let validity = try? await IdentityStore.existing(in: subject.homeURL)?.validity {
      // Made a day early, for clocks that lag.
      witnesses.append(Witness(what: "this machine's certificate", when: validity.start.addingTimeInterval(86_400)))
    }
    return witnesses
  }
}
