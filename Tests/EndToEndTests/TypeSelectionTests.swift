import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of the selection of types to transfer: a blood pressure or a meal includes the samples it is made of.
@Suite(.timeLimit(.minutes(5)))
struct TypeSelectionTests {
  private let scratch: Scratch
  private static let pressure = "120/80 mmHg"

  init() throws { scratch = try Scratch() }

  private func sample(_ type: String, _ payload: Payload) -> Sample {
    Sample(
      uuid: UUID(), type: SampleType(type), start: Timestamp(seconds: 1_718_440_200),
      end: Timestamp(seconds: 1_718_440_200), source: Source(name: "Monitor"), payload: payload)
  }

  /// Adds a blood pressure, a meal with two members, and steps.
  private func fill(_ host: Host) async throws {
    let numbers = [("BloodPressureSystolic", 120, "mmHg"), ("BloodPressureDiastolic", 80, "mmHg")].map {
      sample("HKQuantityTypeIdentifier" + $0.0, .quantity(Quantity($0.1, $0.2)))
    }
    let eaten = [("DietaryCaffeine", 0.095), ("DietaryWater", 0.25)].map {
      sample("HKQuantityTypeIdentifier" + $0.0, .quantity(Quantity($0.1, "g")))
    }
    let groups = [("BloodPressure", numbers), ("Food", eaten)].map {
      sample("HKCorrelationTypeIdentifier" + $0.0, .correlation(Correlation(members: $0.1.map(\.reference))))
    }
    let steps = sample("HKQuantityTypeIdentifierStepCount", .quantity(Quantity(12, "count")))
    try await HealthStore(directory: host.home).apply(ChangeBatch(additions: numbers + eaten + groups + [steps]))
  }

  private func types(_ host: Host) throws -> [String] {
    try HealthStore.types(directory: host.home).map(\.shortName).sorted()
  }

  @Test("exported with their numbers", arguments: ["json", "csv", "ndjson"])
  func exporting(format: String) async throws {
    let (home, other) = (scratch.host("home"), scratch.host("other"))
    try await fill(home)
    let path = scratch.path + "/some." + format
    #expect(try await home.run("export", "--types", "bloodPressure", "--output", path).status == 0)
    #expect(try await other.run("import", path).status == 0)
    #expect(try types(other) == ["bloodPressure", "bloodPressureDiastolic", "bloodPressureSystolic"])
    #expect(try await other.run("show", "bloodPressure").lastLine.contains(Self.pressure))
    #expect(try await home.run("export", "--types", "food", "--output", path, "--force").status == 0)
    #expect(try await other.run("import", path).status == 0)
    #expect(
      try types(other).filter { $0.hasPrefix("dietary") || $0 == "food" } == [
        "dietaryCaffeine", "dietaryWater", "food",
      ])
  }

  @Test("pulled, and let be pulled, with their numbers", arguments: [true, false])
  func pulling(isChosenThere: Bool) async throws {
    let (studio, laptop) = (scratch.host("studio"), scratch.host("laptop"))
    try await fill(studio)
    let chosen = ["--types", "bloodPressure"]
    let (_, port) = try await studio.serve(PairedHomes.serveArguments)
    let (code, _) = try await studio.openWindow(isChosenThere ? chosen : [])
    let arguments = ["pull", "--host", "127.0.0.1:\(port)", "--code-stdin"] + (isChosenThere ? [] : chosen)
    let pulled = try await laptop.start(arguments, input: code).outcome()
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try types(laptop) == ["bloodPressure", "bloodPressureDiastolic", "bloodPressureSystolic"])
    #expect(try await laptop.run("show", "bloodPressure").lastLine.contains(Self.pressure))
    let verified = try await laptop.start(["verify", "--deep"] + (isChosenThere ? [] : chosen)).outcome()
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
  }
}
