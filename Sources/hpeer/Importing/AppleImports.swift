import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Terminal

/// Moves all exports that a zip file or folder holds into the store, the newest last, if they are of one person.
struct AppleImports {
  /// Never empty.
  let exports: [AppleHealthExport]
  let name: String
  let store: HealthStore
  let options: AppleImport.Options
  let capabilities: TerminalCapabilities

  func run() async throws -> ImportResult {
    if exports.count == 1 { return try await importer(exports[0], options).run() }
    var surveyed: [(export: AppleHealthExport, survey: ExportSurvey)] = []
    for export in exports { surveyed.append((export, try await importer(export, options).survey())) }
    try requireOnePerson(surveyed)
    surveyed.sort { ($0.survey.exportDate?.microseconds ?? .min) < ($1.survey.exportDate?.microseconds ?? .min) }
    var result = ImportResult()
    var (journal, owner): (Int64?, RecordOwner?)
    for (importer, admitted) in try await admitted(surveyed) {
      var (importer, admitted) = (importer, admitted)
      importer.options.journal = journal
      if let owner { admitted.admission.owner = owner }
      let one = try await importer.run(admitted)
      journal = one.journal ?? journal
      owner = one.owner ?? owner
      result.add(one, of: .init(place: place(of: importer.export), exported: admitted.survey.exportDate))
    }
    return result
  }

  /// All of them, before anything of the first is written.
  private func admitted(
    _ surveyed: [(export: AppleHealthExport, survey: ExportSurvey)]
  ) async throws -> [(AppleImport, AppleImport.Admitted)] {
    let own = try await store.person()
    var confirmed: Set<Person> = []
    var result: [(AppleImport, AppleImport.Admitted)] = []
    for (index, (export, survey)) in surveyed.enumerated() {
      var options = options
      // Only the newest says what is no longer there.
      if index < surveyed.count - 1 { options.isSnapshot = false }
      // Nobody is asked the same twice.
      if confirmed.contains(survey.person) { options.mergesPersons = true }
      var importer = importer(export, options)
      // Nobody is asked about what will not be read, either.
      if !survey.person.contradictions(to: own).isEmpty, try await importer.earlier() != nil {
        importer.options.mergesPersons = true
      }
      let admitted = try await importer.admit(survey)
      if admitted.wasConfirmed { confirmed.insert(survey.person) }
      result.append((importer, admitted))
    }
    return result
  }

  private func importer(_ export: AppleHealthExport, _ options: AppleImport.Options) -> AppleImport {
    AppleImport(export: export, name: name, store: store, options: options, capabilities: capabilities)
  }

  private func requireOnePerson(_ surveyed: [(export: AppleHealthExport, survey: ExportSurvey)]) throws {
    for (index, one) in surveyed.enumerated() {
      for other in surveyed[..<index] {
        guard let difference = one.survey.personDiffers(from: other.survey) else { continue }
        throw CommandFailure(
          .badInput,
          "\(name) holds \(surveyed.count) exports, of which \(place(of: other.export)) and \(place(of: one.export)) "
            + "do not agree on the person's \(difference), so nothing was imported; unpack it and import what is yours."
        )
      }
    }
  }

  /// The end of where the export is, for people.
  private func place(of export: AppleHealthExport) -> String {
    export.location.split(separator: "/").suffix(2).joined(separator: "/")
  }
}
