import HealthFormats
import HealthModel

extension ExportFormat {
  /// The Health app's export format, the XML file only.
  public static let appleXML = ExportFormat(
    "apple-xml", suffix: "xml", lack: "Apple's export has no element", takes: .offset
  ) { exporting, content in
    try await exporting.writeAppleXML(
      AppleExportWriter(exportDate: content.exported, offset: content.options.offset))
  }
}

extension Exporting {
  /// Writes the XML without the files beside it.
  fileprivate func writeAppleXML(_ writer: AppleExportWriter) async throws -> ExportSummary {
    try await writing {
      try await write(writer, try await reader.routes(), beside: nil) { try await flush(&$0) }
    }
  }

  /// Writes the document in the order of Apple's file: the person, then the types of each section.
  ///
  /// - Parameters:
  ///   - routes: the routes of each workout.
  ///   - files: the files beside the XML; `nil` if there are none.
  ///   - emit: takes the bytes of the XML.
  func write(
    _ writer: AppleExportWriter, _ routes: [SampleReference: [SampleReference]], beside files: AppleSideFiles?,
    _ emit: (inout [UInt8]) async throws -> Void
  ) async throws -> ExportSummary {
    var (writer, routes) = (writer, routes)
    var summary = files?.summary ?? ExportSummary()
    var sections: [AppleExportWriter.Section: [SampleType]] = [:]
    for type in plan.types {
      guard let first = try await reader.first(of: type) else { continue }
      // Electrocardiograms are written as separate files only.
      if files != nil, case .electrocardiogram = first.payload { continue }
      sections[AppleExportWriter.section(of: first), default: []].append(type)
    }
    var characteristics: [Sample] = []
    for type in sections[.characteristics] ?? [] {
      try await reader.pages(of: type) { characteristics += $0 }
    }
    writer.begin(
      characteristics: characteristics,
      asOf: try await age(of: (sections[.characteristics] ?? []) + (sections[.activitySummaries] ?? [])))
    for section in AppleExportWriter.Section.allCases {
      for type in sections[section] ?? [] {
        if section == .routes {
          try await countRoutes(of: type, files?.orphans ?? 0, &summary)
          continue
        }
        try await reader.pages(of: type) { page in
          for sample in page { try await append(sample, &routes, to: &writer, beside: files, &summary, emit) }
          var bytes = writer.take()
          try await emit(&bytes)
          stage.advance(items: page.count, bytes: 0)
        }
      }
    }
    writer.end()
    var bytes = writer.take()
    try await emit(&bytes)
    return summary
  }

  /// Returns the age of the values of these types, because they drift from export to export.
  private func age(of types: [SampleType]) async throws -> AppleExportWriter.Age {
    var age = AppleExportWriter.Age.ofThisExport
    for type in types {
      try await reader.pages(of: type) { page in
        for sample in page { age.add(sample.created) }
      }
    }
    return age
  }

  private func append(
    _ sample: Sample, _ routes: inout [SampleReference: [SampleReference]], to writer: inout AppleExportWriter,
    beside files: AppleSideFiles?, _ summary: inout ExportSummary, _ emit: (inout [UInt8]) async throws -> Void
  ) async throws {
    if writer.beginWorkout(sample) {
      for reference in routes.removeValue(forKey: sample.reference) ?? [] {
        guard var route = try await reader.store.samples.sample(reference) else { continue }
        if let files { route = files.named(route) }
        guard writer.append(route: route) else { continue }
        summary.routes += 1
        if files == nil, AppleExportWriter.hasMore(route) { summary.partial += 1 }
        var bytes = writer.take()
        try await emit(&bytes)
      }
      writer.endWorkout()
      summary.written += 1
    } else if writer.append(files?.named(sample) ?? sample, related: try await reader.members(of: sample)) {
      summary.written += 1
      if files == nil, AppleExportWriter.hasMore(sample) { summary.partial += 1 }
    } else {
      summary.omitted[sample.type, default: 0] += 1
    }
  }

  /// Counts the routes that were written: those of a workout in the file, and those with a file of their own.
  private func countRoutes(of type: SampleType, _ orphans: Int, _ summary: inout ExportSummary) async throws {
    let count = try await reader.count(of: type)
    stage.advance(items: count, bytes: 0)
    let written = summary.routes + orphans
    if count > written { summary.omitted[type] = count - written }
    summary.written += summary.routes
  }
}
