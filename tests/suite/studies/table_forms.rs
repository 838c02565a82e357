//! The forms of a table have the same columns and values.

use std::fs;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::printer::print_schema;

use super::study_runs::{StudyHome, whole_sample};

#[test]
fn the_forms_of_a_table_agree() {
    let home = StudyHome::new();
    let [csv, lines, _] = whole_sample(&home);
    let (csv, lines) = (String::from_utf8(csv).unwrap(), String::from_utf8(lines).unwrap());
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 60);
    let described: serde_json::Value =
        serde_json::from_str(&home.text(&["study", "table", "x", "--fields", "help", "--json"])).unwrap();
    let ids: Vec<&str> =
        described["rows"].as_array().unwrap().iter().map(|field| field["id"].as_str().unwrap()).collect();
    assert_eq!(columns, ids);
    let json: serde_json::Value =
        serde_json::from_str(&home.text(&["--no-times", "study", "table", "whole", "--json"])).unwrap();
    assert_eq!(json["rows"].as_array().unwrap(), &rows);
    let engines = rows.iter().map(|row| row["engine"].as_str().unwrap());
    assert!(engines.zip(csv.lines().skip(1)).all(|(engine, line)| line.contains(engine)));
    // A column that changes its name, its type or its place shows here, and the version of the schema with it.
    insta::assert_snapshot!("parquet_schema", parquet_schema(&home.path("whole.parquet")));
    assert_eq!(parquet_rows(&home.path("whole.parquet")), rows);
}

/// The version of the schema and the columns of a Parquet file, as another reader would see them.
fn parquet_schema(file: &Path) -> String {
    let reader = SerializedFileReader::new(fs::File::open(file).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().unwrap().iter();
    let version = pairs.filter(|pair| pair.key == "schema").filter_map(|pair| pair.value.clone());
    let mut text = version.collect::<String>().into_bytes();
    text.push(b'\n');
    print_schema(&mut text, metadata.schema());
    String::from_utf8(text).unwrap()
}

/// The rows of a Parquet file as JSON has them.
fn parquet_rows(file: &Path) -> Vec<serde_json::Value> {
    let reader = SerializedFileReader::new(fs::File::open(file).unwrap()).unwrap();
    let value = |field: &Field| match field {
        Field::Null => serde_json::Value::Null,
        Field::Bool(flag) => (*flag).into(),
        Field::Long(number) => (*number).into(),
        // JSON Lines have whole numbers without a point.
        Field::Double(number) if number.fract() == 0.0 => (*number as i64).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(text) => text.as_str().into(),
        other => panic!("{other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let row = |row: Row| row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect();
    rows.map(row).collect()
}

#[test]
fn the_json_of_each_command_is_what_its_schema_says() {
    let home = StudyHome::new();
    home.run(&["generate", "kary,k=2,n=2", "-o", "site.topo"]);
    let schemas = fabdeck::script::schemas::schemas();
    for (args, schema) in [
        (&["study", "run", "sample", "-o", "x", "--limit", "1ms"][..], "study-run"),
        (&["study", "run", "x", "--shard", "1/3"], "study-run"),
        (&["study", "status", "x"], "study-status"),
        (&["study", "table", "x"], "study-table"),
        (&["study", "table", "x", "--fit"], "study-fit"),
        (&["study", "show", "x"], "study-file"),
        (&["study", "slurm", "x", "--array", "3"], "study-slurm"),
        (&["--source", "site.topo", "study", "slurm", "-o", "y"], "study-slurm"),
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let value: serde_json::Value = serde_json::from_str(&home.text(&args)).unwrap();
        assert_eq!(value["schema"], format!("fabdeck.{schema}/1"));
        let schema: serde_json::Value = serde_json::from_str(&schemas[&format!("{schema}.json")]).unwrap();
        assert_eq!(crate::commands::json::violations(&schema, &value), [""; 0], "{args:?}");
    }
    let script = fs::read_to_string(home.path("x/study.sbatch")).unwrap();
    assert!(script.contains("#SBATCH --array=0-2\n"), "{script}");
}

/// Another program reads the Parquet file. Set `FABDECK_LONG=1` to run it.
#[test]
fn pyarrow_reads_the_values_of_the_json_lines() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let home = StudyHome::new();
    whole_sample(&home);
    let python = |args: &[&str]| {
        let output =
            std::process::Command::new("python3").args(args).current_dir(home.0.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    python(&["-m", "venv", "venv"]);
    let pip = home.path("venv/bin/pip");
    let installed =
        std::process::Command::new(pip).args(["install", "--quiet", "pyarrow==21.0.0"]).status().unwrap();
    assert!(installed.success(), "pyarrow cannot be installed");
    let script = "import json, pyarrow.parquet as p\n\
                  table = p.read_table('whole.parquet')\n\
                  assert table.schema.metadata[b'schema'] == b'fabdeck.study-table/1', table.schema.metadata\n\
                  rows = [json.loads(line) for line in open('whole.jsonl')]\n\
                  assert table.to_pylist() == rows\n\
                  assert str(table.schema.field('throughput_gbyte_s').type) == 'double'\n";
    fs::write(home.path("read.py"), script).unwrap();
    let read = std::process::Command::new(home.path("venv/bin/python"))
        .arg("read.py")
        .current_dir(home.0.path())
        .output()
        .unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
}
