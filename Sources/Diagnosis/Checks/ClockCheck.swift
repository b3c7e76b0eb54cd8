import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// A check of the clock, because codes, tokens and certificates have dates.
struct ClockCheck: Check {
  let id = "clock"
  let title = "the clock"
  var subject: Subject
  var machine: Machine
  /// Returns events that have certainly happened.
  var witnesses: @Sendable () async -> [Witness]

  /// An event that happened, whose date cannot be in the future.
  struct Witness: Hashable, Sendable {
    var what: String
    var when: Date
  }

  /// The tolerance in seconds for files copied from another machine, whose clock may be ahead.
  private static let tolerance: TimeInterval = 300
  /// The earliest plausible date: a clock that shows an earlier one was never set.
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

  /// Returns a date in local time with its UTC offset, as other commands print it.
  static func text(_ date: Date, in zone: TimeZone = .current) -> String {
    date.formatted(Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone))
  }

  /// Returns the dates of this program's file, of the newest event in the audit log and of the certificate.
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
      // The certificate's validity begins a day early, for clocks that lag.
      witnesses.append(Witness(what: "this machine's certificate", when: validity.start.addingTimeInterval(86_400)))
    }
    return witnesses
  }
}
