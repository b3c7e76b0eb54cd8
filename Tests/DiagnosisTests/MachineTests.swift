import Foundation
import OperatingSystem
import Testing

@testable import Diagnosis

@Suite("Clock")
struct ClockTests {
  private func finding(
    now: Date, witnesses: [ClockCheck.Witness] = [], timedatectl: String? = nil
  ) async throws -> Finding {
    let machine = Machine.fake(
      files: timedatectl == nil ? [:] : ["/run/systemd/system": ""],
      commands: timedatectl.map { ["timedatectl": .printed($0)] } ?? [:])
    let check = ClockCheck(subject: .test(now: now), machine: machine) { witnesses }
    return try #require(await check.findings().first)
  }

  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  @Test("times are local, with their offset")
  func zone() throws {
    let zone = try #require(TimeZone(secondsFromGMT: -5 * 3600 - 1800))
    #expect(ClockCheck.text(now, in: zone) == "2027-01-15T02:30:00-05:30")
    #expect(ClockCheck.text(now, in: .gmt) == "2027-01-15T08:00:00Z")
    #expect(ClockCheck.day(now - 4 * 3600, in: zone) == "2027-01-14")
  }

  @Test("never set, set back, not synchronized, right")
  func clocks() async throws {
    let unset = try await finding(now: Date(timeIntervalSince1970: 86_400))
    #expect(unset.id == "clock.unset" && unset.severity == .blocking)
    let future = ClockCheck.Witness(what: "the newest event in the audit log", when: now.addingTimeInterval(3600))
    let back = try await finding(now: now, witnesses: [.init(what: "x", when: now - 5), future])
    #expect(back.id == "clock.back" && back.text.contains("the newest event in the audit log"))
    let near = ClockCheck.Witness(what: "x", when: now.addingTimeInterval(60))
    #expect(try await finding(now: now, witnesses: [near]).id == "clock.ok")
    let free = try await finding(now: now, timedatectl: "no\n")
    #expect(free.id == "clock.unsynchronized" && free.severity == .note)
    #expect(free.remedy == "sudo timedatectl set-ntp true")
    #expect(try await finding(now: now, timedatectl: "yes\n").id == "clock.ok")
  }
}

@Suite("Disk")
struct DiskTests {
  private let gibibyte: UInt64 = 1 << 30

  private func finding(_ space: DiskSpace?) async throws -> Finding {
    var check = DiskCheck(subject: .test())
    check.space = { _ in space }
    return try #require(await check.findings().first)
  }

  @Test("full, nearly full, out of files, read-only, roomy")
  func disks() async throws {
    let full = try await finding(DiskSpace(bytes: 100 * gibibyte, freeBytes: 63 << 20, mountPoint: "/home"))
    #expect(full.id == "disk.full" && full.severity == .blocking)
    #expect(full.remedy?.contains("sudo du -xh --max-depth=2 /home") == true)
    #expect(try await finding(DiskSpace(bytes: 2 * gibibyte, freeBytes: 1000 << 20)).id == "disk.low")
    #expect(try await finding(DiskSpace(bytes: 100 * gibibyte, freeBytes: 4 * gibibyte)).id == "disk.low")
    #expect(try await finding(DiskSpace(bytes: 100 * gibibyte, freeBytes: 6 * gibibyte)).id == "disk.ok")
    let roomy = DiskSpace(bytes: 100 * gibibyte, freeBytes: 50 * gibibyte, files: 10_000, freeFiles: 3)
    #expect(try await finding(roomy).id == "disk.files")
    #expect(try await finding(DiskSpace(bytes: 1, freeBytes: 1, isReadOnly: true)).severity == .blocking)
    #expect(try await finding(nil).id == "disk.unknown")
  }
}

@Suite("Doctor")
struct DoctorTests {
  private struct Fixed: Check {
    var id: String
    var title = "it"
    var limit = Duration.seconds(60)
    var body: @Sendable () async -> Void = {}

    func findings() async -> [Finding] {
      await body()
      return [Finding(.ok, "\(id).ok", "fine")]
    }
  }

  @Test("findings come in the order of the checks, whichever is ready first", .timeLimit(.minutes(5)))
  func order() async {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let doctor = Doctor(checks: [
      Fixed(id: "a") { for await _ in gate {} }, Fixed(id: "b") { open.finish() },
    ])
    #expect(await doctor.examine().ids == ["a.ok", "b.ok"])
  }

  @Test("a check that hangs is left alone, and its thread with it", .timeLimit(.minutes(5)))
  func hanging() async {
    let disk = DispatchSemaphore(value: 0)
    defer { disk.signal() }
    let stuck = Fixed(id: "a", title: "the disk", limit: .milliseconds(50)) {
      await onThread { _ in disk.wait() }
    }
    let found = await Doctor(checks: [stuck, Fixed(id: "b")]).examine()
    #expect(found.ids == ["a.timeout", "b.ok"])
    #expect(found[0].severity == .warning && found[0].text.contains("the disk"))
  }

  @Test("warnings and notes do not stand in the way")
  func health() {
    #expect([Finding(.warning, "a", ""), Finding(.note, "b", ""), Finding(.ok, "c", "")].areHealthy)
    #expect(![Finding(.ok, "c", ""), Finding(.blocking, "a", "")].areHealthy)
  }

  @Test("every remedy of a whole examination is one line, and it ends in time", .timeLimit(.minutes(5)))
  func reality() async {
    let found = await Doctor(.test()).examine()
    #expect(found.count >= 13)
    for finding in found {
      #expect(!finding.text.contains("\n") && finding.remedy?.contains("\n") != true, "\(finding)")
      #expect(finding.severity == .ok || finding.severity == .note || finding.remedy != nil, "\(finding)")
    }
  }
}
