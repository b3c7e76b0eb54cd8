import Foundation
import Testing

/// Tests of years of operation in fast motion: machines keep working and use no more resources than before.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct LongRunTests {
  /// The number of additional descriptors allowed, because database readers are opened on first use. Less than the
  /// number of restarts.
  private static let late = 5

  private func descriptors(_ command: RunningCommand) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(command.pid)/fd").count
  }

  /// Returns the processor time used, in seconds.
  private func processorTime(_ command: RunningCommand) throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(command.pid)/stat", encoding: .utf8)
    // utime and stime, fields 14 and 15, after the name, which may hold anything.
    let fields = try #require(text.split(separator: ")").last).split(separator: " ")
    return try Double(#require(Int(fields[11])) + #require(Int(fields[12]))) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private func count(_ text: String, in command: RunningCommand) -> Int {
    command.errors.split(separator: "\n").count { $0.contains(text) }
  }

  private func untilEqual(_ hosts: TwoHosts) async throws {
    let wanted = try await hosts.studio.run("digest").output
    try await eventually("both machines have the same", within: .seconds(150)) {
      try await hosts.laptop.run("digest").output == wanted ? true : nil
    }
  }

  @Test(
    "daemons restarted again and again, another address, a machine that stood still: announced and in step, no more held"
  )
  func runs() async throws {
    let hosts = try await TwoHosts()
    let (studio, laptop) = (hosts.studio, hosts.laptop)
    try await studio.hold(.small)
    let serving = try studio.start(["run", "--port", "0", "--name", "studio"])
    try await serving.errors(matching: #/Announced on this network as studio/#)
    #expect(try await hosts.pairAndPull().status == 0)
    let running = try laptop.start(["run", "--port", "0", "--name", "laptop"])
    try await running.errors(matching: #/studio: up to date/#)
    try await running.errors(matching: #/Announced on this network as laptop/#)
    let all = [serving, running]
    let before = try all.map(descriptors)
    let (start, used) = (ContinuousClock.now, try all.map(processorTime))

    var announced = 1
    for turn in 1...6 {
      // Every other time the bus that it is reached by goes, too.
      for name in ["studio", "laptop"] {
        if turn.isMultiple(of: 2) { try await hosts.control("dbus", name, "restart") }
        try await hosts.control("avahi", name, turn.isMultiple(of: 2) ? "start" : "restart")
      }
      announced += 1
      for command in all {
        try await eventually("announced \(announced) times: \(command.errors)") {
          count("Announced on this network", in: command) >= announced ? true : nil
        }
      }
    }
    let third = Host(home: hosts.scratch.path + "/third", scratch: hosts.scratch, prefix: laptop.prefix)
    try await eventually("a third machine finds both") {
      let list = try await third.run("discover").output
      return list.contains("studio ") && list.contains("laptop ") ? true : nil
    }

    #expect(try await studio.run("import", SampleExport.smallLater.path).status == 0)
    try await untilEqual(hosts)

    // As in a suspension: neither does anything, and then both go on at once.
    for command in all { command.send(SIGSTOP) }
    try await Task.sleep(for: .seconds(3))
    for command in all { command.send(SIGCONT) }
    try await hosts.moveStudio()
    let deleting = ["delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await studio.start(deleting).outcome().status == 0)
    try await untilEqual(hosts)

    for (command, before) in zip(all, before) {
      try await eventually("no descriptor is left open: \(before) before", within: .seconds(90)) {
        try descriptors(command) <= before + Self.late ? true : nil
      }
    }
    let seconds = start.duration(to: .now) / .seconds(1)
    for (command, used) in zip(all, used) {
      let share = try (processorTime(command) - used) / seconds
      // At rest it takes a hundredth; what spins takes a processor, or what the tests beside it leave of one.
      #expect(share < 0.2, "\(share) of a processor for \(seconds) s")
      command.send(SIGTERM)
      #expect(try await command.outcome().status == 0)
    }
  }
}
