//! Draws all figures of a model file into a folder: `gallery MODEL FOLDER [TABLE]`.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use gpfuse_io::model_file;
use gpfuse_io::table::Table;
use gpfuse_report::figure::{Format, write};
use gpfuse_report::view::view;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (model, folder, table) = match args.as_slice() {
        [model, folder] => (model, folder, None),
        [model, folder, table] => (model, folder, Some(table)),
        _ => bail!("give a model file, a folder and perhaps a table"),
    };
    let fitted = model_file::load(Path::new(model))?;
    let read = |path| anyhow::Ok(Table::read(Path::new(path), None)?.data_for(&fitted)?.data);
    let data = table.map(read).transpose()?;
    std::fs::create_dir_all(folder)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    let view = view(&fitted, data.as_ref(), threads)?;
    println!("gathered in {:.2} s", start.elapsed().as_secs_f64());
    for (name, scene) in view.figures() {
        for (format, end) in [(Format::Svg, "svg"), (Format::Png, "png")] {
            write(&Path::new(folder).join(format!("{name}.{end}")), format, &scene)?;
        }
        println!("{name}");
    }
    view.omitted.iter().for_each(|reason| println!("{reason}"));
    Ok(())
}
