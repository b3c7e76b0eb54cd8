import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of the units of tables if a command names none.
@Suite("Units of tables", .timeLimit(.minutes(5)))
struct UnitsTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var home: Host { scratch.host("home") }

  private func export(locale: String, date: String) throws -> String {
    let path = scratch.path + "/\(locale.filter(\.isLetter))-\(date).xml"
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="\(locale)">
       <ExportDate value="\(date) 10:00:00 +0000"/>
       <Record type="HKQuantityTypeIdentifierBodyMass" sourceName="Scale" unit="kg" \
      creationDate="2024-06-15 08:00:00 +0000" startDate="2024-06-15 08:00:00 +0000" \
      endDate="2024-06-15 08:00:00 +0000" value="80"/>
      </HealthData>
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func latest(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> String {
    let outcome = try await home.start(["latest", "bodyMass"] + arguments, environment: environment).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  private func units(_ arguments: String..., environment: [String: String] = [:]) async throws -> String {
    let outcome = try await home.start(["units"] + arguments, environment: environment).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.trimmingCharacters(in: .newlines)
  }

  @Test("the machine's locale, the newest export's region, a choice: the later of these counts")
  func order() async throws {
    let american = ["LC_ALL": "", "LC_MEASUREMENT": "en_US.UTF-8"]
    #expect(try await home.run("import", export(locale: "de", date: "2024-06-16")).status == 0)
    #expect(try await units() == "metric (of this machine's locale)")
    #expect(try await latest().contains("80 kg"))
    #expect(try await latest(environment: american).contains("176.37 lb"))
    #expect(try await units(environment: american) == "imperial (of this machine's locale)")
    #expect(try await home.run("import", export(locale: "es-419_US", date: "2024-06-18")).status == 0)
    #expect(try await units() == "imperial (of the newest export's region)")
    #expect(try await latest().contains("176.37 lb"))
    // An older one says nothing.
    #expect(try await home.run("import", export(locale: "en_DE", date: "2024-06-17")).status == 0)
    #expect(try await latest().contains("176.37 lb"))
    #expect(try await home.run("import", export(locale: "en_US@rg=dezzzz", date: "2024-06-19")).status == 0)
    #expect(try await units(environment: american) == "metric (of the newest export's region)")
    #expect(try await units("bodyMass=st") == "bodyMass=st")
    #expect(try await latest().contains("12.6 st"))
    #expect(try await latest(["--units", "kg"]).contains("80 kg"))
    #expect(try await latest(["--units", "metric"]).contains("80 kg"))
    #expect(try await units("--automatic") == "metric (of the newest export's region)")
    let audited = try await home.run("audit", "show")
    #expect(audited.output.contains("bodyMass=st"))
  }

  @Test("JSON and CSV keep the record's units, unless others are asked for")
  func programs() async throws {
    #expect(try await home.run("import", export(locale: "en_US", date: "2024-06-16")).status == 0)
    let stats = try await home.run("stats", "bodyMass")
    #expect(stats.output.contains("lb") && stats.output.contains("176"))
    for form in ["--json", "--csv"] {
      let plain = try await home.run("stats", "bodyMass", form)
      #expect(plain.output.contains("kg") && !plain.output.contains("lb"))
      let asked = try await home.run("stats", "bodyMass", form, "--units", "imperial")
      #expect(asked.output.contains("lb"))
    }
    let csv = try await latest(["--csv"])
    #expect(csv.contains("kg"))
  }

  @Test("what is no unit is refused")
  func wrong() async throws {
    for arguments in [["units", "stones"], ["units", "imperial", "--automatic"]] {
      #expect(try await home.start(arguments).outcome().status == 2)
    }
  }
}
