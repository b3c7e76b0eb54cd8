import Foundation
import TestSupport
import Testing

/// Tests of the built program over a faulty connection: a documented exit code, a single accurate sentence, and a
/// next run that completes.
@Suite(.timeLimit(.minutes(5)))
struct WireFaultTests {
  private static let seed: UInt64 = 20_260_102

  @Test("12 faults at random bytes of a pull")
  func pull() async throws {
    let scratch = try Scratch()
    let (studio, laptop) = (scratch.host("studio"), scratch.host("laptop"))
    try await studio.hold(.small)
    let (_, port) = try await studio.serve(["--port", "0", "--no-advertise"])
    let (code, _) = try await studio.openWindow()
    let address = "127.0.0.1:\(port)"
    let paired = try await laptop.run("pair", "--host", address, "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
    let expected = try await studio.contents()

    var generator = SeededGenerator(seed: Self.seed)
    let lengths: [WireFault.Direction: Int] = [.toClient: 1_400_000, .toServer: 3_300]
    for index in 0..<12 {
      let fault = WireFault.random(in: lengths, using: &generator)
      let about = "\(fault), seed \(Self.seed)"
      let wire = try Relay(to: port, fault: fault)
      defer { wire.close() }
      let host = scratch.host("laptop\(index)")
      try FileManager.default.copyItem(atPath: laptop.home, toPath: host.home)
      let timeout = fault.isHarmless ? "60" : "2"
      let broken = try await host.run("pull", "--host", "127.0.0.1:\(wire.port)", "--timeout", timeout)
      #expect([0, 3, 12].contains(broken.status), "\(about): \(broken.status) \(broken.errors)")
      if fault.isHarmless { #expect(broken.status == 0, "\(about): \(broken.errors)") }
      if broken.status != 0 {
        let lines = broken.errors.split(separator: "\n")
        #expect(lines.count == 1 && broken.errors.hasPrefix("hpeer: "), "\(about): \(broken.errors)")
        for falseAlarm in ["certificate", "not an hpeer", "Fatal"] {
          #expect(!broken.errors.contains(falseAlarm), "\(about): \(broken.errors)")
        }
      }
      let again = try await host.run("pull", "--host", address)
      #expect(again.status == 0, "\(about): \(again.errors)")
      #expect(try await host.contents() == expected, "\(about)")
    }
  }
}
